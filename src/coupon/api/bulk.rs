//! Bulk issues: a list of requests as NDJSON, answered line by line while it is read.

use std::time::Duration;

use actix_web::http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use actix_web::web::{Bytes, Data, Payload};
use actix_web::{HttpRequest, HttpResponse, rt};
use serde::Serialize;
use tokio::sync::{Semaphore, SemaphorePermit, mpsc};
use tokio::time::timeout;
use utoipa::ToSchema;

use super::Api;
use super::body::IssueBody;
use super::issues::IssueWish;
use super::lines::{Lines, Next};
use crate::coupon::bulk::MAX_BULK;
use crate::coupon::coupons::{Coupons, Request};
use crate::coupon::error::CouponError;
use crate::coupon::status::Status;
use crate::http::listener::state::ConnectionState;
use crate::http::problem::{FieldError, Problem};
use crate::http::query::PathOf;
use crate::http::{Web, auth, body};
use crate::ids::Id;
use crate::stopping::Stopping;

const NDJSON: &str = "application/x-ndjson";
/// Uploads worked on at the same time; each holds up to [`MAX_UNREAD`] answers.
const MAX_UPLOADS: usize = 4;
static UPLOADS: Semaphore = Semaphore::const_new(MAX_UPLOADS);
/// Answers of whole calls that wait for the client to read them, some 64 KiB each: 8 MiB. Clients that read nothing
/// before they have sent everything get through with that many lines, some 40,000.
const MAX_UNREAD: usize = 128;
/// How long a client may neither send nor read.
const IDLE: Duration = Duration::from_secs(15);

/// The answer to one line, or why no further line is read.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct BulkLine {
    /// Number of the line in the upload, from 1; blank lines are counted, and not answered.
    #[schema(example = 1)]
    line: u64,
    #[serde(flatten)]
    answer: LineAnswer,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum LineAnswer {
    /// What became of the request.
    Issue(Box<IssueBody>),
    /// Nothing was done for this line.
    Refused {
        /// `refused`: the next lines are not concerned. `stopped`: this line and all behind it were not read, or nothing
        /// is known of them; send the list again.
        #[schema(example = "refused")]
        result: &'static str,
        /// Code of the problem.
        #[schema(example = "request-id-reused")]
        code: &'static str,
        detail: String,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        errors: Vec<FieldError>,
    },
}

impl LineAnswer {
    fn refused(problem: Problem, result: &'static str) -> Self {
        Self::Refused {
            result,
            code: problem.code,
            detail: problem.detail,
            errors: problem.errors,
        }
    }
}

/// Issues to a list of users: a line `{"request_id", "user_id"}` each, answered by a line each, in order, while the
/// list is read.
///
/// The answer to a line is the request as it is read by its id; refusals are among the answers, and so are the places of
/// those that joined the line because others were in it. A line that is no request is answered `refused`, with its
/// number, and those behind it go on. When something ends the work early, the last line of the answer says `stopped`.
/// Sending the same list again is safe, and goes on where it ended: what was decided is answered as before.
///
/// Read the answer while sending, as curl does: a list of more than some 40,000 lines is read no further otherwise.
#[utoipa::path(post, path = "/v1/coupons/{id}/bulk-issues", operation_id = "issue_in_bulk", tag = "coupons", security(("bearer" = [])),
    params(("id" = String, Path)),
    request_body(content = String, content_type = "application/x-ndjson"),
    responses((status = 200, description = "A line for each line", body = BulkLine, content_type = "application/x-ndjson"),
        (status = 404, description = "`coupon-not-found`", body = crate::http::problem::ProblemBody, content_type = "application/problem+json"),
        (status = 409, description = "`coupon-suspended`", body = crate::http::problem::ProblemBody, content_type = "application/problem+json"),
        (status = 415, description = "`unsupported-media-type`", body = crate::http::problem::ProblemBody, content_type = "application/problem+json")))]
pub(crate) async fn post(
    _: auth::Operate,
    PathOf(id): PathOf<Id>,
    request: HttpRequest,
    (api, web): (Data<Api>, Data<Web>),
    payload: Payload,
) -> Result<HttpResponse, Problem> {
    check_head(&request, api.max_bulk_bytes)?;
    match api.coupons.snapshot(&id).await?.status {
        // Of one that ended what it issued is answered.
        Status::Open | Status::Ended => {}
        Status::Suspended => return Err(CouponError::Suspended.into()),
    }
    let busy = || Problem::store_unavailable("too many bulk issues are worked on; send the same list again");
    let place = UPLOADS.try_acquire().map_err(|_| busy())?;
    let (answers, mut told) = mpsc::channel(MAX_UNREAD);
    let upload = Upload {
        id,
        coupons: api.coupons.clone(),
        answers,
        stopping: web.stopping.clone(),
        _place: place,
    };
    let connection = ConnectionState::of(&request);
    rt::spawn(upload.work(Lines::new(payload, connection, api.max_bulk_bytes)));
    let body = async_stream::stream! {
        while let Some(bytes) = told.recv().await {
            yield Ok::<Bytes, Problem>(bytes);
        }
    };
    Ok(HttpResponse::Ok().content_type(NDJSON).streaming(Box::pin(body)))
}

fn check_head(request: &HttpRequest, limit: u64) -> Result<(), Problem> {
    let header = |name| request.headers().get(name).and_then(|value| value.to_str().ok());
    let media = header(CONTENT_TYPE).and_then(|text| text.split(';').next());
    if !media.is_some_and(|media| media.trim().eq_ignore_ascii_case(NDJSON)) {
        return Err(Problem {
            detail: format!("send the list as Content-Type: {NDJSON} in UTF-8"),
            ..Problem::unsupported_media_type()
        });
    }
    let length = header(CONTENT_LENGTH).and_then(|text| text.parse::<u64>().ok());
    if length.is_some_and(|length| length > limit) {
        return Err(Problem::too_large(usize::try_from(limit).unwrap_or(usize::MAX)));
    }
    Ok(())
}

/// A line of the list: its number and what it says.
type Wish = (u64, Result<IssueWish, Problem>);

/// A list that is worked on.
struct Upload {
    id: Id,
    coupons: Coupons,
    answers: mpsc::Sender<Bytes>,
    stopping: Stopping,
    _place: SemaphorePermit<'static>,
}

impl Upload {
    /// Until the list ends, or nobody is there who reads the answers.
    async fn work(self, mut lines: Lines) {
        let mut wishes: Vec<Wish> = Vec::with_capacity(MAX_BULK);
        loop {
            // What has come is answered before more is waited for.
            if (lines.is_empty() && !wishes.is_empty()) || wishes.len() == MAX_BULK {
                let Ok(()) = self.answer(std::mem::take(&mut wishes)).await else {
                    return;
                };
            }
            let next = tokio::select! {
                next = timeout(IDLE, lines.next()) => next.unwrap_or_else(|_| Next::Failed(Problem::request_timeout(IDLE))),
                () = self.stopping.wait() => Next::Failed(Problem::store_unavailable("the service stops; send the same list again")),
            };
            match next {
                Next::Line(bytes) if bytes.trim_ascii().is_empty() => {}
                Next::Line(bytes) => wishes.push((lines.number(), body::parse(&bytes))),
                Next::TooLong(problem) => wishes.push((lines.number(), Err(problem))),
                Next::Nothing => {}
                Next::End => break,
                Next::Failed(problem) => {
                    if !wishes.is_empty() && self.answer(std::mem::take(&mut wishes)).await.is_err() {
                        return;
                    }
                    let answer = LineAnswer::refused(problem, "stopped");
                    // Its reader may have gone away.
                    let _told = self
                        .tell(&[BulkLine {
                            line: lines.number() + 1,
                            answer,
                        }])
                        .await;
                    return;
                }
            }
        }
        if !wishes.is_empty() {
            let _told = self.answer(wishes).await;
        }
    }

    /// Decides and answers these lines; an error when that was the end.
    async fn answer(&self, wishes: Vec<Wish>) -> Result<(), ()> {
        let asked = wishes.iter().filter_map(|(_, wish)| wish.as_ref().ok());
        let asked = asked
            .map(|wish| (wish.request_id.clone(), wish.user_id.clone()))
            .collect::<Vec<_>>();
        let decided = if asked.is_empty() {
            Ok(Vec::new())
        } else {
            self.coupons.issue_all(&self.id, &asked).await
        };
        let mut stopped = None;
        let mut decided = decided.unwrap_or_else(|error| {
            stopped = Some(error.into());
            Vec::new()
        });
        let mut told = Vec::with_capacity(wishes.len());
        let mut requests = decided.drain(..);
        for (line, wish) in wishes {
            let answer = match wish {
                Err(problem) => LineAnswer::refused(problem, "refused"),
                Ok(_) => match requests.next() {
                    Some(Ok(request)) => issue(request),
                    Some(Err(error @ CouponError::Suspended)) => {
                        stopped = Some(error.into());
                        break_with(&mut stopped)
                    }
                    Some(Err(error)) => LineAnswer::refused(error.into(), "refused"),
                    None => break_with(&mut stopped),
                },
            };
            let ends = matches!(answer, LineAnswer::Refused { result: "stopped", .. });
            told.push(BulkLine { line, answer });
            if ends {
                return self.tell(&told).await.and(Err(()));
            }
        }
        self.tell(&told).await
    }

    /// Sends lines of the answer, once the client has read enough of the earlier ones.
    async fn tell(&self, lines: &[BulkLine]) -> Result<(), ()> {
        let mut text = Vec::new();
        for line in lines {
            serde_json::to_writer(&mut text, line).map_err(drop)?;
            text.push(b'\n');
        }
        let told = timeout(IDLE, self.answers.send(text.into())).await;
        told.map_err(drop)?.map_err(drop)
    }
}

fn issue(request: Request) -> LineAnswer {
    LineAnswer::Issue(Box::new(IssueBody::of(request)))
}

/// The last line of an answer.
fn break_with(stopped: &mut Option<Problem>) -> LineAnswer {
    LineAnswer::refused(stopped.take().unwrap_or_else(Problem::internal), "stopped")
}
