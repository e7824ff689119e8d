//! A server on a separate port, with a few routes that show what the base does.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use actix_web::web::{self, Data, ServiceConfig};
use actix_web::{HttpRequest, HttpResponse};
use jackpot::http::Web;
use jackpot::http::auth::{Anyone, Operate, Play, PlayOrRead, Read};
use jackpot::http::body::{Body, Described};
use jackpot::http::health::{Readiness, ReadinessFn};
use jackpot::http::problem::Problem;
use jackpot::http::query::{PathOf, QueryOf};
use jackpot::http::routes::Routes;
use jackpot::http::server::{self, Running, ServeError};
use jackpot::keys::{KeyFile, KeyStore, Limits, Role};
use jackpot::settings::{self, Settings};
use jackpot::telemetry::{Metrics, request};
use reqwest::{Client, RequestBuilder, Response};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use serde::{Deserialize, Serialize};
use tempfile::TempDir;
use tokio::sync::Notify;
use utoipa::{OpenApi, ToSchema};

use crate::support;
use crate::support::prelude::*;

/// Bodies larger than this are refused by the servers here.
pub const MAX_BODY: usize = 1024;

pub struct TestServer {
    pub running: Option<Running>,
    pub keys: KeyFile,
    pub slow: Arc<Slow>,
    pub metrics: Arc<Metrics>,
    base: String,
    client: Client,
    follower: tokio::task::JoinHandle<()>,
    pub directory: TempDir,
}

/// A handler that waits: it signals when it is reached, and answers when the test releases it.
#[derive(Default)]
pub struct Slow {
    pub reached: Notify,
    pub release: Notify,
}

pub struct Options {
    pub limits: Limits,
    pub readiness: ReadinessFn,
    pub metrics_listen: &'static str,
    /// More lines of `[http]`.
    pub http: String,
    /// Serve over TLS, with this pair.
    pub tls: Option<Pair>,
    /// More of the settings file.
    pub settings: &'static str,
}

/// A self-signed certificate for `localhost`, and its key, as PEM.
pub struct Pair {
    pub cert: String,
    pub key: String,
}

impl Pair {
    pub fn new() -> Pair {
        let key = rcgen::KeyPair::generate().unwrap();
        let cert = rcgen::CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
        Pair {
            cert: cert.self_signed(&key).unwrap().pem(),
            key: key.serialize_pem(),
        }
    }

    /// Writes the pair where a server follows it, one file after the other, as an orchestrator does.
    pub fn put(&self, directory: &Path) {
        for (name, text) in [("cert.pem", &self.cert), ("key.pem", &self.key)] {
            jackpot::durable_file::replace(&directory.join(name), text.as_bytes()).unwrap();
        }
    }

    /// The certificate as it is sent.
    pub fn der(&self) -> CertificateDer<'static> {
        CertificateDer::from_pem_slice(self.cert.as_bytes()).unwrap()
    }
}

impl Default for Options {
    fn default() -> Options {
        Options {
            limits: Limits {
                per_second: 0,
                burst: 0,
            },
            readiness: Arc::new(Readiness::default),
            metrics_listen: "",
            http: String::new(),
            tls: None,
            settings: "",
        }
    }
}

pub async fn server() -> TestServer {
    server_with(Options::default()).await
}

pub async fn server_with(options: Options) -> TestServer {
    try_server_with(options).unwrap()
}

/// A server that may refuse to start.
pub fn try_server_with(options: Options) -> Result<TestServer, ServeError> {
    let directory = tempfile::tempdir().unwrap();
    let settings = settings_in(directory.path(), &options);
    let keys = KeyFile::of(&settings);
    let store = Arc::new(KeyStore::open(keys.clone(), options.limits).unwrap());
    let follower = tokio::spawn(Arc::clone(&store).follow());
    let metrics = Arc::new(Metrics::new());
    let web = Web::new(&settings, store, Arc::clone(&metrics), options.readiness);
    let slow = Arc::new(Slow::default());
    let running = server::start(&settings, &web, routes(Arc::clone(&slow)))?;
    let base = format!("http://{}", running.address());
    let running = Some(running);
    Ok(TestServer {
        running,
        keys,
        slow,
        metrics,
        base,
        client: crate::support::http_client(),
        follower,
        directory,
    })
}

fn settings_in(directory: &Path, options: &Options) -> Settings {
    let Options {
        metrics_listen,
        http,
        settings: more,
        ..
    } = options;
    let tls = options.tls.as_ref().map_or_else(String::new, |pair| {
        pair.put(directory);
        let path = |name| directory.join(name).to_str().unwrap().to_owned();
        format!(
            "tls_cert_file = {:?}\ntls_key_file = {:?}\n",
            path("cert.pem"),
            path("key.pem")
        )
    });
    let file = directory.join("settings.toml");
    let text = format!(
        "data_dir = {:?}\n[http]\nlisten = \"127.0.0.1:0\"\nworkers = 1\nmetrics_listen = {metrics_listen:?}\n\
         shutdown_timeout_s = 20\nmax_body_bytes = {MAX_BODY}\n{tls}{http}\n{more}",
        directory.to_str().unwrap()
    );
    std::fs::write(&file, text).unwrap();
    settings::Settings::load(Some(&file)).unwrap()
}

impl Drop for TestServer {
    fn drop(&mut self) {
        self.follower.abort();
    }
}

impl TestServer {
    pub fn key(&self, role: Role, name: &str) -> String {
        self.keys.add(name.parse().unwrap(), role).unwrap().expose().to_owned()
    }

    /// Waits until the service honours the key: it reads the file every half second.
    pub async fn honoured_key(&self, role: Role, name: &str) -> String {
        let key = self.key(role, name);
        eventually("the key to be honoured", async || {
            self.get("/test/anyone")
                .bearer_auth(&key)
                .send()
                .await
                .unwrap()
                .status()
                == 200
        })
        .await;
        key
    }

    pub fn address(&self) -> SocketAddr {
        self.running.as_ref().unwrap().address()
    }

    /// A request without a key by another client, at this address of the loopback network.
    pub fn get_from(&self, address: [u8; 4], path: &str) -> RequestBuilder {
        support::http_client_at(address.into()).get(format!("{}{path}", self.base))
    }

    pub fn get(&self, path: &str) -> RequestBuilder {
        self.request(Method::GET, path)
    }

    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, format!("{}{path}", self.base))
    }

    /// Posts text as JSON to the route that only parses it.
    pub async fn echo(&self, body: impl Into<String>) -> Response {
        self.request(Method::POST, "/test/echo")
            .header("content-type", "application/json")
            .body(body.into())
            .send()
            .await
            .unwrap()
    }
}

/// Polls until `holds`; a test that waits longer than 5 s has failed.
pub async fn eventually(what: &str, holds: impl AsyncFn() -> bool) {
    support::eventually(Duration::from_secs(5), what, async || holds().await.then_some(())).await;
}

/// Checks everything that a problem has, and returns its body.
pub async fn problem(answer: Response, status: u16, code: &str) -> Value {
    assert_eq!(
        answer.headers()["content-type"],
        "application/problem+json",
        "{answer:?}"
    );
    assert!(!answer.headers()["x-request-id"].is_empty());
    assert_eq!(answer.status(), status, "{answer:?}");
    let body: Value = answer.json().await.unwrap();
    assert_eq!(body["code"], code, "{body}");
    assert_eq!(body["type"], format!("/problems/{code}"));
    assert_eq!(body["status"], status);
    for text in ["title", "detail"] {
        assert!(
            body[text].as_str().is_some_and(|text| !text.is_empty()),
            "{text} in {body}"
        );
    }
    assert!(body["errors"].is_array());
    body
}

pub fn field(problem: &Value) -> &str {
    problem["errors"][0]["field"].as_str().unwrap()
}

impl Described for Echo {}

#[derive(Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Echo {
    name: String,
    amount: i64,
    note: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Page {
    limit: Option<u32>,
}

/// Parses itself, as the ids of the routes do.
#[derive(Deserialize)]
#[serde(try_from = "String")]
struct ShortId(String);

impl TryFrom<String> for ShortId {
    type Error = &'static str;

    fn try_from(text: String) -> Result<ShortId, &'static str> {
        if text.len() <= 4 {
            Ok(ShortId(text))
        } else {
            Err("must have at most 4 characters")
        }
    }
}

#[derive(OpenApi)]
#[openapi(paths(echo, item))]
struct TestDoc;

#[utoipa::path(post, path = "/test/echo", responses((status = 200)))]
async fn echo(body: Body<Echo>) -> HttpResponse {
    HttpResponse::Ok().json(body.0)
}

#[utoipa::path(get, path = "/test/items/{id}", responses((status = 200)))]
async fn item(id: PathOf<ShortId>, page: QueryOf<Page>) -> HttpResponse {
    HttpResponse::Ok().body(format!("{} {:?}", id.0.0, page.0.limit))
}

async fn panics(request: HttpRequest) -> HttpResponse {
    panic!("a handler gave up on {}", request.path());
}

async fn slow(slow: Data<Slow>) -> HttpResponse {
    slow.reached.notify_one();
    slow.release.notified().await;
    HttpResponse::Ok().body("at last")
}

/// Bytes without end, until the service stops.
async fn ticks(web: Data<Web>) -> HttpResponse {
    let stopping = web.stopping.clone();
    let body = async_stream::stream! {
        let mut ticks = tokio::time::interval(Duration::from_millis(10));
        while !stopping.has_begun() {
            ticks.tick().await;
            yield Ok::<_, Problem>(web::Bytes::from_static(b"tick\n"));
        }
    };
    HttpResponse::Ok()
        .content_type("text/event-stream")
        .streaming(Box::pin(body))
}

async fn anyone(caller: Anyone, query: web::Query<Vec<(String, String)>>) -> Result<HttpResponse, Problem> {
    if query.is_empty() {
        return Ok(HttpResponse::Ok().finish());
    }
    caller
        .require_read()
        .map(|caller| HttpResponse::Ok().body(caller.name().to_owned()))
}

fn routes(state: Arc<Slow>) -> Routes {
    let state = Data::from(state);
    let mount = move |config: &mut ServiceConfig| {
        config
            .app_data(state.clone())
            .service(web::resource("/test/echo").route(web::post().to(echo)))
            .service(web::resource("/test/items/{id}").route(jackpot::http::get().to(item)))
            .route("/test/panic", jackpot::http::get().to(panics))
            .route("/test/slow", jackpot::http::get().to(slow))
            .route("/test/ticks", jackpot::http::get().to(ticks))
            .route(
                "/test/id",
                jackpot::http::get().to(async || request::id().expect("a request").to_string()),
            )
            .route(
                "/test/play",
                web::post().to(async |caller: Play, _body: Body<Echo>| caller.0.name().to_owned()),
            )
            .route(
                "/test/read",
                jackpot::http::get().to(async |caller: Read| caller.0.name().to_owned()),
            )
            .route(
                "/test/operate",
                jackpot::http::get().to(async |Operate { by, .. }: Operate| by.who),
            )
            .route(
                "/test/play-or-read",
                jackpot::http::get().to(async |caller: PlayOrRead| caller.0.name().to_owned()),
            )
            .route("/test/anyone", jackpot::http::get().to(anyone));
    };
    Routes {
        mount: Arc::new(mount),
        document: TestDoc::openapi(),
        pages: jackpot::http::routes::Pages::default(),
    }
}
