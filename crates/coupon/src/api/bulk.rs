//! Bulk issues: a list of requests as NDJSON, answered line by line while it is read.

use std::sync::LazyLock;
use std::time::Duration;

use actix_web::http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use actix_web::web::{Data, Payload};
use actix_web::{HttpRequest, HttpResponse, rt};
use jackpot_api::coupon::{BulkLine, LineAnswer, LineResult};
use jackpot_core::ids::Id;
use serde_json::json;
use sqlx::AssertSqlSafe;
use tokio::time::{Instant, timeout_at};

use super::Api;
use super::answers::{self, Answers, Gone};
use super::body::issue_body;
use super::issues::IssueWish;
use super::lines::{Lines, Next};
use super::pace::{self, IDLE, LONGEST, Pace};
use crate::bulk::MAX_BULK;
use crate::coupons::{Coupons, Request};
use crate::error::CouponError;
use jackpot_api::coupon::Status;
use jackpot_kernel::http::budget::{Budget, Full, Share};
use jackpot_kernel::http::{Code, ConnectionState, PathOf, Problem, Web, auth, body};
use jackpot_kernel::operator::Operator;
use jackpot_kernel::random;
use jackpot_kernel::sql::Sql;
use jackpot_kernel::stopping::Stopping;
use jackpot_kernel::subject::kinds::COUPON;

const NDJSON: &str = "application/x-ndjson";
/// Largest number of uploads at once. Each holds up to 8 MiB of unread answers: 128 MiB in all.
const MAX_UPLOADS: usize = 16;
/// Most uploads of one key, so that its stalled clients do not block other keys.
const MAX_UPLOADS_OF_KEY: usize = 4;
static UPLOADS: LazyLock<Budget> = LazyLock::new(|| Budget::new(MAX_UPLOADS, MAX_UPLOADS_OF_KEY));
/// `Retry-After` when every place is taken. By then stalled uploads have ended.
const TRY_AGAIN: Duration = IDLE;

fn refused(problem: Problem, result: LineResult) -> LineAnswer {
    LineAnswer::Refused {
        result,
        code: problem.code.as_str().into(),
        detail: problem.detail,
        errors: problem.errors,
    }
}

/// Issues units to a list of users: each line `{"request_id", "user_id"}` (and `metadata`) has a line as its answer, in order, while the
/// list is read.
///
/// The answer to a line is the request, as `GET` of its id shows it. It may be a refusal, or a place in the queue if
/// others are in it. A line that is not a request is answered `refused`, with its number, and the next lines go on.
/// When something ends the work early, the last line of the answer says `stopped`. It is safe to send the same list
/// again: decided requests get the same answers, marked `replayed`, and the rest goes on. The audit trail has a row
/// `bulk-issue` for each list.
///
/// Read the answer while sending, as curl does. Otherwise the service stops reading a list after some 40,000 lines. It
/// stops a client that neither sends nor reads for 15 s, that sends less than 1,024 bytes and 10 lines in 30 s of
/// waiting, or that takes more than an hour. A key may have 4 uploads at once (429), all keys 16 (503).
#[utoipa::path(post, path = "/v1/coupons/{id}/bulk-issues", operation_id = "issue_in_bulk", tag = "coupons", security(("bearer" = [])),
    params(("id" = String, Path)),
    request_body(content = String, content_type = "application/x-ndjson"),
    responses((status = 200, description = "A line for each line", body = BulkLine, content_type = "application/x-ndjson")),
    extensions(("x-problems" = json!([Code::CouponPaused,
        (Code::RateLimited, "the key has its maximum number of uploads in progress; with `Retry-After`"),
        (Code::TooManyUploads, "this instance works on its maximum")]))))]
pub(crate) async fn post(
    auth::Operate { caller, by }: auth::Operate,
    PathOf(id): PathOf<Id>,
    request: HttpRequest,
    api: Data<Api>,
    web: Data<Web>,
    payload: Payload,
) -> Result<HttpResponse, Problem> {
    check_head(&request, api.max_bulk_bytes)?;
    let snapshot = api.coupons.snapshot(&id).await?;
    match snapshot.status {
        // A coupon that was closed or has ended still gives answers for what it issued.
        Status::Open | Status::Closed | Status::Ended => {}
        Status::Paused => return Err(CouponError::Paused.into()),
        Status::Suspended => return Err(CouponError::Suspended.into()),
    }
    let place = UPLOADS.take(&caller.shared_name(), 1).map_err(busy)?;
    audit(&api.sql, &id, snapshot.issued, &by).await?;
    let (answers, body) = answers::channel();
    let upload = Upload {
        id,
        coupons: api.coupons.clone(),
        answers,
        stopping: web.stopping.clone(),
        key_end: caller.end(),
        _place: place,
    };
    let connection = ConnectionState::of(&request);
    rt::spawn(upload.work(Lines::new(payload, connection, api.max_bulk_bytes)));
    Ok(HttpResponse::Ok().content_type(NDJSON).streaming(Box::pin(body)))
}

/// Adds the row of the audit trail, so that no list is issued without one. Its units have events, and the row has none: its
/// number is random, below those of events.
async fn audit(sql: &Sql, id: &Id, issued: u64, by: &Operator) -> Result<(), CouponError> {
    let text = format!(
        "INSERT INTO audit (subject, n, at_ms, who, action, target, before, after, reason, request_id) \
         VALUES ($1, $2, {}, $3, 'bulk-issue', $4, $5, 'null', '', $6)",
        sql.now_ms()
    );
    let n = i64::from_le_bytes(random::bytes()?) | i64::MIN;
    let insert = sqlx::query(AssertSqlSafe(text))
        .bind(COUPON.subject(id))
        .bind(n)
        .bind(by.who.clone())
        .bind(COUPON.subject(id))
        .bind(json!({ "issued": issued }).to_string())
        .bind(by.request_id.clone());
    sql.execute(insert).await?;
    Ok(())
}

fn busy(full: Full) -> Problem {
    match full {
        Full::Key => {
            let detail = format!(
                "this key has {MAX_UPLOADS_OF_KEY} uploads in progress, the maximum of a key: send the same list after one has ended"
            );
            Problem::rate_limited(TRY_AGAIN, &detail)
        }
        Full::All => {
            let detail = format!("this instance works on {MAX_UPLOADS} uploads, its maximum: send the same list again");
            Problem::too_many_uploads(TRY_AGAIN, &detail)
        }
    }
}

fn check_head(request: &HttpRequest, limit: u64) -> Result<(), Problem> {
    body::check_coding(request.headers())?;
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

/// A line of the list: its number and its request.
type Wish = (u64, Result<IssueWish, Problem>);

/// A list in work.
struct Upload {
    id: Id,
    coupons: Coupons,
    answers: Answers,
    stopping: Stopping,
    key_end: auth::KeyEnd,
    /// Runs until all answers are read, or the client has gone.
    _place: Share,
}

/// Why the service reads no more of a list.
enum Over {
    /// The last line of the answer says why.
    Answered,
    Gone,
}

impl From<Gone> for Over {
    fn from(_: Gone) -> Self {
        Self::Gone
    }
}

impl Upload {
    /// Runs until the list ends and its answer is read, or the client has gone.
    async fn work(self, mut lines: Lines) {
        match self.read(&mut lines).await {
            Ok(()) | Err(Over::Answered) => self.answers.finish().await,
            Err(Over::Gone) => {}
        }
    }

    /// Reads and answers the list.
    async fn read(&self, lines: &mut Lines) -> Result<(), Over> {
        let (mut pace, deadline) = (Pace::default(), Instant::now() + LONGEST);
        let mut wishes: Vec<Wish> = Vec::with_capacity(MAX_BULK);
        let mut key_ended = std::pin::pin!(self.key_end.clone().wait());
        loop {
            // Answers the lines that have come before it waits for more.
            if (lines.is_empty() && !wishes.is_empty()) || wishes.len() == MAX_BULK {
                self.answer(std::mem::take(&mut wishes)).await?;
            }
            let next = tokio::select! {
                biased;
                () = &mut key_ended => return self.break_off(&wishes, lines).await,
                next = self.next(lines, &mut pace, deadline) => next?,
            };
            match next {
                Next::Line(bytes) if bytes.trim_ascii().is_empty() => {}
                Next::Line(bytes) => {
                    pace.line();
                    wishes.push((lines.number(), body::parse(&bytes)));
                }
                Next::TooLong(problem) => wishes.push((lines.number(), Err(problem))),
                Next::Nothing => {}
                Next::End if wishes.is_empty() => return Ok(()),
                Next::End => return self.answer(wishes).await,
                Next::Failed(problem) => {
                    if !wishes.is_empty() {
                        self.answer(wishes).await?;
                    }
                    let line = lines.number() + 1;
                    self.answers.tell(line, stopped(line, problem)).await?;
                    return Err(Over::Answered);
                }
            }
        }
    }

    /// The next part of the list, or why to read no more.
    async fn next(&self, lines: &mut Lines, pace: &mut Pace, deadline: Instant) -> Result<Next, Over> {
        if !lines.is_empty() {
            return Ok(lines.next().await);
        }
        let (began, before, left) = (Instant::now(), lines.taken(), pace.left());
        let until = deadline.min(began + left.min(IDLE));
        let next = tokio::select! {
            next = timeout_at(until, lines.next()) => next,
            () = self.stopping.wait() => {
                return Ok(Next::Failed(Problem::store_unavailable("the service stops; send the same list again")));
            }
            () = self.answers.gone() => return Err(Over::Gone),
        };
        pace.waited(
            began.elapsed(),
            usize::try_from(lines.taken() - before).unwrap_or(usize::MAX),
        );
        Ok(next.unwrap_or_else(|_| {
            Next::Failed(if until == deadline {
                pace::too_long()
            } else if left < IDLE {
                pace::too_slow()
            } else {
                pace::idle()
            })
        }))
    }

    /// Stops when the key has expired or was revoked.
    async fn break_off(&self, undone: &[Wish], lines: &Lines) -> Result<(), Over> {
        let problem = Problem {
            detail: "the key was revoked or has expired; send the same list again with another key".to_owned(),
            ..Problem::unauthorized()
        };
        let line = undone.first().map_or(lines.number() + 1, |(line, _)| *line);
        self.answers.tell(line, stopped(line, problem)).await?;
        Err(Over::Answered)
    }

    /// Decides and answers these lines. An error ends the answer.
    async fn answer(&self, wishes: Vec<Wish>) -> Result<(), Over> {
        let asked = wishes.iter().filter_map(|(_, wish)| wish.as_ref().ok());
        let asked = asked
            .map(|wish| (wish.request_id.clone(), wish.asker()))
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
            let mut replayed = false;
            let answer = match wish {
                Err(problem) => refused(problem, LineResult::Refused),
                Ok(_) => match requests.next() {
                    Some(Ok(request)) => {
                        replayed = request.replayed;
                        issue(request)
                    }
                    Some(Err(error @ (CouponError::Suspended | CouponError::Emergency(_)))) => {
                        stopped = Some(error.into());
                        break_with(&mut stopped)
                    }
                    Some(Err(error)) => refused(error.into(), LineResult::Refused),
                    None => break_with(&mut stopped),
                },
            };
            let ends = matches!(
                answer,
                LineAnswer::Refused {
                    result: LineResult::Stopped,
                    ..
                }
            );
            told.push(BulkLine { line, replayed, answer });
            if ends {
                self.tell(&told).await?;
                return Err(Over::Answered);
            }
        }
        Ok(self.tell(&told).await?)
    }

    async fn tell(&self, lines: &[BulkLine]) -> Result<(), Gone> {
        let mut text = Vec::new();
        for line in lines {
            write(&mut text, line);
        }
        self.answers.tell(lines.first().map_or(0, |line| line.line), text).await
    }
}

fn write(text: &mut Vec<u8>, line: &BulkLine) {
    serde_json::to_writer(&mut *text, line).expect("plain data is JSON");
    text.push(b'\n');
}

/// The last line of an answer that ended early.
pub(super) fn stopped(line: u64, problem: Problem) -> Vec<u8> {
    let answer = refused(problem, LineResult::Stopped);
    let mut text = Vec::new();
    let replayed = false;
    write(&mut text, &BulkLine { line, replayed, answer });
    text
}

fn issue(request: Request) -> LineAnswer {
    LineAnswer::Issue(Box::new(issue_body(request)))
}

fn break_with(stopped: &mut Option<Problem>) -> LineAnswer {
    refused(stopped.take().unwrap_or_else(Problem::internal), LineResult::Stopped)
}
