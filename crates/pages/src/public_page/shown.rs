//! Readings and renderings that an instance makes once for all players: of a jackpot at most one a second, however many
//! look at it.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};
use std::time::Duration;

use actix_web::http::header::{CONTENT_LANGUAGE, HeaderValue, VARY};
use actix_web::{HttpRequest, HttpResponse};
use jackpot_core::ids::Id;
use jackpot_ui::{Language, Words};
use tokio::sync::Mutex;
use tokio::time::Instant;

use super::Public;
use super::failure::Refusal;
use super::reading::{self, Memory, Reading};
use jackpot_kernel::http::cached::Page;
use jackpot_kernel::http::html;
use jackpot_kernel::http::inside::Inside;
use jackpot_kernel::single_flight::{Read, SingleFlight};

const BY_LANGUAGE: HeaderValue = HeaderValue::from_static("Accept-Language");

/// Largest age of a page, and how long caches may keep it.
const SHOWN_FOR: Duration = Duration::from_secs(1);
const MAX_AGE_S: u32 = 1;
/// Least time between two tries to read what can't be read.
const PAUSE: Duration = Duration::from_millis(200);
/// Jackpots that are kept before those that nobody looked at within [`IDLE`] are dropped.
const MANY: usize = 1_024;
const IDLE: Duration = Duration::from_mins(1);

/// What is shown of a reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Page,
    /// The file that checks draws without a connection.
    File,
    /// The demo of the ticker.
    Demo,
}

const KINDS: usize = 3;
const LANGUAGES: usize = Language::ALL.len();

/// A reading, and what was made of it, in each language.
#[derive(Debug)]
struct Shown {
    reading: Reading,
    pages: [[OnceLock<Page>; LANGUAGES]; KINDS],
}

/// One jackpot.
#[derive(Debug, Default)]
struct Flight {
    flight: SingleFlight<Result<Arc<Shown>, Refusal>>,
    memory: Mutex<Memory>,
    /// When it was last asked for.
    asked: std::sync::Mutex<Option<Instant>>,
}

/// The jackpots whose pages were asked for.
#[derive(Debug, Default)]
pub struct Jackpots(RwLock<HashMap<Id, Arc<Flight>>>);

impl Jackpots {
    async fn shown(&self, inside: &Inside, id: &Id) -> Result<Arc<Shown>, Refusal> {
        let flight = self.flight(id);
        let read = async || {
            let mut memory = flight.memory.lock().await;
            let reading = reading::read(inside, id, &mut memory).await?;
            Ok(Arc::new(Shown {
                reading,
                pages: Default::default(),
            }))
        };
        let is_good = |last: &Read<Result<_, _>>| last.value.is_ok() && last.begun.elapsed() < SHOWN_FOR;
        let shown = flight.flight.get(PAUSE, is_good, read).await;
        if let Err(Refusal::Missing) = shown.value {
            // Ids that clients make up are not kept.
            self.write().remove(id);
        }
        shown.value.clone()
    }

    fn flight(&self, id: &Id) -> Arc<Flight> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner).get(id).cloned();
        let flight = known.unwrap_or_else(|| {
            let mut all = self.write();
            if all.len() >= MANY {
                all.retain(|_, flight| Arc::strong_count(flight) > 1 || flight.is_fresh());
            }
            Arc::clone(all.entry(id.clone()).or_default())
        });
        *flight.asked.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
        flight
    }

    fn write(&self) -> std::sync::RwLockWriteGuard<'_, HashMap<Id, Arc<Flight>>> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Flight {
    fn is_fresh(&self) -> bool {
        let asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        asked.is_some_and(|at| at.elapsed() < IDLE)
    }
}

/// The answer with one of the pages of a jackpot in the reader's language; or the page that says why not. `make` makes the
/// text.
pub async fn answer(
    public: &Public,
    inside: &Inside,
    request: &HttpRequest,
    id: &str,
    kind: Kind,
    make: impl FnOnce(&Public, Words, &Reading) -> String,
) -> HttpResponse {
    let words = html::words_of(request);
    let Ok(id) = Id::parse(id) else {
        return Refusal::Missing.page(words);
    };
    let shown = match public.jackpots.shown(inside, &id).await {
        Ok(shown) => shown,
        Err(refusal) => return refusal.page(words),
    };
    let place = &shown.pages[kind as usize][words.0 as usize];
    let page = place.get_or_init(|| Page::new(make(public, words, &shown.reading)));
    let mut answer = page.answer(request, "text/html; charset=utf-8", MAX_AGE_S);
    let headers = answer.headers_mut();
    headers.insert(CONTENT_LANGUAGE, HeaderValue::from_static(words.0.code()));
    headers.insert(VARY, BY_LANGUAGE);
    answer
}
