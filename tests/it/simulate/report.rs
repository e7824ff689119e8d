//! The reports of all kinds, in a real browser: on a desk and on a phone, in light and dark.

use std::collections::BTreeSet;
use std::process::Command;

use serde_json::{Value, json};

use crate::console::pages::{axe, keep, look};
use crate::support::browser::{Browser, Scripts};
use crate::support::service::output_text;

const KINDS: [(&str, &str); 3] = [
    (
        "jackpot",
        "--players 20 --entries 600 --winners 10 --collisions 2 --tiers 3",
    ),
    ("coupon", "--coupons --users 200 --stock 60 --connections 16 --voids 5"),
    ("room", "--room --users 60 --capacity 10 --compare"),
];

/// The plots that are shown, the texts of each plot's axes, and the colour of its first line.
const PLOTS: &str = "return [...document.querySelectorAll('svg')].filter((svg) => svg.getClientRects().length > 0).map((svg) => ({
    name: svg.getAttribute('aria-label'), is_phone: svg.matches('.at-phone'), width: svg.getBoundingClientRect().width,
    across: [...svg.querySelectorAll('text')].filter((text) => / s$/.test(text.textContent.trim())).map((text) => text.textContent.trim()),
    stroke: getComputedStyle(svg.querySelector('[stroke]')).stroke}))";

/// Looks at the plots of a report that is open.
fn check(plots: &Value, kind: &str, width: u32) -> Vec<String> {
    let plots = plots.as_array().expect("plots");
    assert!(plots.len() >= 4, "{kind}: {plots:?}");
    let names: BTreeSet<_> = plots
        .iter()
        .map(|plot| plot["name"].as_str().expect("a name"))
        .collect();
    assert_eq!(names.len(), plots.len(), "{kind}: each plot is shown once");
    for plot in plots {
        assert_eq!(plot["is_phone"], json!(width < 760), "{kind}: {plot}");
        let across: Vec<_> = plot["across"].as_array().expect("labels").iter().collect();
        let differ = across
            .iter()
            .collect::<Vec<_>>()
            .windows(2)
            .all(|pair| pair[0] != pair[1]);
        assert!(differ, "{kind}: the labels of an axis differ: {plot}");
    }
    plots.iter().map(|plot| plot["stroke"].to_string()).collect()
}

#[tokio::test]
async fn heavy_a_report_is_there_for_everyone() {
    let directory = tempfile::tempdir().expect("a directory");
    let browser = Browser::start(Scripts::On).await;
    let axe = axe();
    for (kind, options) in KINDS {
        let file = directory.path().join(format!("{kind}.html"));
        let run = Command::new(env!("CARGO_BIN_EXE_jackpot"))
            .args(["simulate", "--quiet", "--report"])
            .arg(&file)
            .args(options.split_whitespace())
            .output()
            .expect("the program starts");
        assert_eq!(run.status.code(), Some(0), "{}", output_text(&run));
        for width in [1280, 390] {
            let mut strokes = Vec::new();
            for scheme in ["light", "dark"] {
                browser.screen(width, 900).await;
                browser.scheme(scheme).await;
                browser.open(&format!("file://{}", file.display())).await;
                assert_eq!(browser.title().await, format!("Simulation of a {kind}"));
                look(&browser, &axe, &format!("{kind} at {width} in {scheme}")).await;
                strokes.push(check(&browser.ask(PLOTS).await, kind, width));
                keep(&browser, &format!("report-{kind}"), width, scheme).await;
            }
            assert!(
                strokes[0].iter().zip(&strokes[1]).all(|(light, dark)| light != dark),
                "{kind}: {strokes:?}"
            );
        }
    }
}
