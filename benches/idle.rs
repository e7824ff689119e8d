//! What jackpots, coupons and rooms cost in which nothing happens: a start with many of them, and the CPU time of a service
//! that has nothing to do.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use futures_util::{StreamExt, stream};
use jackpot_simulate::report::plots::Plot;
use serde::Serialize;
use serde_json::json;

use crate::plot::{Axes, Series, line_chart};
use crate::sample::float;
use crate::service::Service;
use crate::{Outcome, json};

/// Requests that create subjects, at once.
const CONNECTIONS: usize = 16;
/// After a start each subject is looked at once, in turns of a thousand of a kind each second.
const SETTLED: Duration = Duration::from_secs(30);
const POLL: Duration = Duration::from_millis(100);

/// One step.
#[derive(Debug, Serialize)]
pub(crate) struct Idle {
    subjects: usize,
    /// From the start of the process to the first answer of `/healthz`.
    first_answer_s: f64,
    /// From the start of the process to the first 200 of `/readyz`; the private Redis loads its data meanwhile.
    ready_s: f64,
    /// CPU time, in percent of a core.
    service_pct: f64,
    redis_pct: f64,
}

/// Puts that many subjects into a new service, starts it again, and measures it for `over`: two fifths jackpots, two fifths
/// coupons, one fifth rooms.
pub(crate) async fn measure(place: &Path, subjects: usize, over: Duration) -> Outcome<Idle> {
    let mut service = Service::product(place, json!({})).await?;
    let target = &service.target;
    let requests = (0..subjects).map(|number| async move {
        let id = json::jackpot(number);
        match number % 5 {
            0 | 1 => {
                let path = format!("/v1/jackpots/{id}");
                target.call("PUT", &path, &json::definition(&id)).await
            }
            2 | 3 => target.call("PUT", &format!("/v1/coupons/{id}"), &json::coupon()).await,
            _ => target.call("PUT", &format!("/v1/rooms/{id}"), &json::room()).await,
        }
    });
    let mut made = stream::iter(requests).buffer_unordered(CONNECTIONS);
    while let Some(made) = made.next().await {
        made?;
    }
    drop(made);
    while service.lag().await? > 0 {
        tokio::time::sleep(POLL).await;
    }
    let (first_answer, ready) = service.restart().await?;
    tokio::time::sleep(SETTLED).await;
    let before = service.cpu_times()?;
    tokio::time::sleep(over).await;
    let after = service.cpu_times()?;
    let pct = |of: fn(&(Duration, Duration)) -> Duration| {
        100.0 * of(&after).saturating_sub(of(&before)).as_secs_f64() / over.as_secs_f64()
    };
    let idle = Idle {
        subjects,
        first_answer_s: first_answer.as_secs_f64(),
        ready_s: ready.as_secs_f64(),
        service_pct: pct(|(service, _)| *service),
        redis_pct: pct(|(_, redis)| *redis),
    };
    eprintln!(
        "  {subjects}: ready in {:.2} s, service {:.2} % of a core, Redis {:.2} %",
        idle.ready_s, idle.service_pct, idle.redis_pct
    );
    Ok(idle)
}

pub(crate) fn table(title: &str, steps: &[Idle]) -> String {
    let mut text =
        format!("{title}\n\n| subjects | first answer, s | ready, s | service, % of a core | Redis, % of a core |\n");
    text.push_str("| ---: | ---: | ---: | ---: | ---: |\n");
    for step in steps {
        let _infallible = writeln!(
            text,
            "| {} | {:.2} | {:.2} | {:.2} | {:.2} |",
            step.subjects, step.first_answer_s, step.ready_s, step.service_pct, step.redis_pct
        );
    }
    text.push('\n');
    text
}

pub(crate) fn plot(title: &'static str, steps: &[Idle]) -> Outcome<Plot> {
    let series = |name, value: fn(&Idle) -> f64| Series {
        name,
        points: steps
            .iter()
            .map(|step| (float(step.subjects as u64), value(step)))
            .collect(),
    };
    let lines = [
        series("ready, s", |step| step.ready_s),
        series("service, % of a core", |step| step.service_pct),
        series("Redis, % of a core", |step| step.redis_pct),
    ];
    let axes = Axes {
        title,
        x: "subjects",
        logarithmic: true,
    };
    line_chart(&axes, &lines)
}
