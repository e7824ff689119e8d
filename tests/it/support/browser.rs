//! A real browser without a window: Chromium, driven by chromedriver as the `WebDriver` standard describes.
//!
//! The tests send the few commands that they need by hand. Of the two crates for it, one has a licence that `deny.toml`
//! refuses. The other makes `serde_json` keep the order of fields in the program under test, which it does not do in a
//! normal build.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use base64::Engine as _;
use rustix::process::{Pid, Signal, geteuid, kill_process, kill_process_group};
use tempfile::TempDir;

use super::service::processes_in;
use super::{eventually, http_client};
use crate::support::prelude::*;

/// For the start of the driver, and for that of the browser, on a loaded machine.
const START_DEADLINE: Duration = Duration::from_mins(1);

/// Time for a page to be there and to stay as long as a click takes.
const CLICK_DEADLINE: Duration = Duration::from_secs(30);

/// Names that the browser has on PATH.
const BROWSERS: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/// What a machine without it lacks.
const NEEDED: &str = "chromium and chromedriver are needed on PATH: apt-get install chromium chromium-driver \
                      (on Ubuntu, where those are snaps, Google Chrome and its chromedriver)";

/// What the driver says when it can't have its port.
const TAKEN: &str = "Address already in use";

/// Whether pages may run scripts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scripts {
    /// They may.
    On,
    /// They may not, as a user can set it in a browser.
    Off,
}

/// How the standard names a reference to an element.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// A browser with a profile of its own. Dropping it removes everything.
pub struct Browser {
    client: reqwest::Client,
    /// The address at which the driver takes commands for this browser.
    session: String,
    chromedriver: Child,
    directory: TempDir,
}

impl Browser {
    /// Starts a browser.
    ///
    /// # Panics
    /// When the browser isn't installed, saying what to install, or does not start.
    pub async fn start(scripts: Scripts) -> Self {
        super::not_in_make_test("a browser");
        let directory = tempfile::Builder::new()
            .prefix("jackpot-browser-")
            .tempdir()
            .expect("a temporary directory can be made");
        let program = program(&BROWSERS).expect(NEEDED);
        let log = directory.path().join("log");
        let mut browser = Self {
            client: http_client(),
            session: String::new(),
            chromedriver: spawn(directory.path(), &log).expect(NEEDED),
            directory,
        };
        let port = loop {
            if let Some(port) = browser.port(&log).await {
                break port;
            }
            browser.chromedriver = spawn(browser.directory.path(), &log).expect(NEEDED);
        };
        browser.session = format!("http://127.0.0.1:{port}/session");
        let wishes = browser.wishes(&program, scripts);
        let started = browser.command(Method::POST, "", wishes).await;
        let started = started.unwrap_or_else(|error| panic!("the browser starts: {error}"));
        let id = started["sessionId"].as_str().expect("a session has an id");
        browser.session = format!("{}/{id}", browser.session);
        browser
    }

    fn wishes(&self, program: &Path, scripts: Scripts) -> Value {
        let profile = self.directory.path().join("profile");
        let mut arguments = vec![
            "--headless=new".to_owned(),
            "--disable-dev-shm-usage".to_owned(),
            "--disable-crash-reporter".to_owned(),
            "--disable-background-networking".to_owned(),
            "--no-first-run".to_owned(),
            format!("--user-data-dir={}", profile.display()),
        ];
        // Its sandbox refuses root, which tests in a container are.
        if geteuid().is_root() {
            arguments.push("--no-sandbox".to_owned());
        }
        let allowed = if scripts == Scripts::On { 1 } else { 2 };
        let preferences = json!({"profile.managed_default_content_settings.javascript": allowed});
        let options = json!({"binary": program, "args": arguments, "prefs": preferences});
        let logs = json!({"browser": "ALL"});
        json!({"capabilities": {"alwaysMatch": {"goog:chromeOptions": options, "goog:loggingPrefs": logs}}})
    }

    /// The port that the driver chose; `None` if it ended because the port that it chose for one family of addresses was taken
    /// in the other.
    async fn port(&mut self, log: &Path) -> Option<u16> {
        let process = &mut self.chromedriver;
        eventually(START_DEADLINE, "chromedriver listens", async || {
            let said = std::fs::read_to_string(log).unwrap_or_default();
            if let Some(status) = process.try_wait().expect("a child can be asked for its status") {
                assert!(said.contains(TAKEN), "chromedriver ended with {status}: {said}");
                return Some(None);
            }
            let (_, port) = said.split_once("started successfully on port ")?;
            port.split_once('.')?.0.parse().ok().map(Some)
        })
        .await
    }

    /// One command; its result, or what the driver says is wrong.
    async fn command(&self, method: Method, path: &str, parameters: Value) -> Result<Value, Value> {
        let mut request = self.client.request(method.clone(), format!("{}{path}", self.session));
        if method == Method::POST {
            request = request.timeout(START_DEADLINE).json(&parameters);
        }
        let answer = request.send().await.expect("the driver answers");
        let done = answer.status().is_success();
        let mut body: Value = answer.json().await.expect("the driver answers with JSON");
        let value = body["value"].take();
        if done { Ok(value) } else { Err(value) }
    }

    /// A command that must succeed.
    async fn done(&self, method: Method, path: &str, parameters: Value) -> Value {
        let done = self.command(method, path, parameters).await;
        done.unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    /// The path of the first element that fits.
    async fn element(&self, css: &str) -> Option<String> {
        let selector = json!({"using": "css selector", "value": css});
        let found = self.command(Method::POST, "/element", selector).await.ok()?;
        Some(format!("/element/{}", found[ELEMENT].as_str()?))
    }

    /// Goes to an address, and waits until the page there is loaded.
    pub async fn open(&self, url: &str) {
        self.done(Method::POST, "/url", json!({"url": url})).await;
    }

    /// The present address.
    pub async fn url(&self) -> String {
        let url = self.done(Method::GET, "/url", Value::Null).await;
        url.as_str().expect("an address").to_owned()
    }

    /// The title of the page.
    pub async fn title(&self) -> String {
        let title = self.done(Method::GET, "/title", Value::Null).await;
        title.as_str().expect("a title").to_owned()
    }

    /// The text of the first element that fits. `None`: there is none, or the page is changing.
    pub async fn text(&self, css: &str) -> Option<String> {
        let path = format!("{}/text", self.element(css).await?);
        let text = self.command(Method::GET, &path, Value::Null).await.ok()?;
        Some(text.as_str()?.to_owned())
    }

    /// Clicks on the first element that fits, once there is one; also on a page that is loading again.
    pub async fn click(&self, css: &str) {
        eventually(CLICK_DEADLINE, css, async || {
            let path = format!("{}/click", self.element(css).await?);
            self.command(Method::POST, &path, json!({})).await.ok()
        })
        .await;
    }

    /// Runs a script in the page and returns its result. The script is the test's own, and no setting stops it.
    pub async fn ask(&self, script: &str) -> Value {
        let script = json!({"script": script, "args": []});
        self.done(Method::POST, "/execute/sync", script).await
    }

    /// The lines of its console since the last call. Violations of policies are among them as `SEVERE`.
    pub async fn console(&self) -> Vec<Value> {
        let lines = self.done(Method::POST, "/se/log", json!({"type": "browser"})).await;
        lines.as_array().expect("lines").clone()
    }

    /// Gives its pages the width of a small phone, 320 pixels.
    pub async fn narrow(&self) {
        self.screen(320, 640).await;
    }

    /// Gives its pages a size in pixels; below 600 as on a phone.
    pub async fn screen(&self, width: u32, height: u32) {
        let screen = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600});
        self.devtools("Emulation.setDeviceMetricsOverride", screen).await;
    }

    /// Sets the colours that the reader prefers: `light` or `dark`.
    pub async fn scheme(&self, scheme: &str) {
        self.prefers("prefers-color-scheme", scheme).await;
    }

    /// Sets what the reader prefers, by the name of a media feature.
    pub async fn prefers(&self, feature: &str, value: &str) {
        let features = json!({"features": [{"name": feature, "value": value}]});
        self.devtools("Emulation.setEmulatedMedia", features).await;
    }

    /// Runs a script in each page before the page's own.
    pub async fn before_pages(&self, script: &str) {
        self.devtools("Page.addScriptToEvaluateOnNewDocument", json!({"source": script}))
            .await;
    }

    /// Sets the languages that the reader prefers.
    pub async fn language(&self, tags: &str) {
        let agent = self.ask("return navigator.userAgent").await;
        let wish = json!({"userAgent": agent, "acceptLanguage": tags});
        self.devtools("Emulation.setUserAgentOverride", wish).await;
    }

    /// The whole page as it looks, as WebP: a tenth of a PNG.
    pub async fn picture(&self) -> Vec<u8> {
        let size = self
            .ask("return [innerWidth, document.documentElement.scrollHeight]")
            .await;
        let clip = json!({"x": 0, "y": 0, "width": size[0], "height": size[1], "scale": 1});
        let wish = json!({"format": "webp", "quality": 70, "captureBeyondViewport": true, "clip": clip});
        let taken = self.devtools("Page.captureScreenshot", wish).await;
        let text = taken["data"].as_str().expect("a picture");
        base64::engine::general_purpose::STANDARD.decode(text).expect("Base64")
    }

    async fn devtools(&self, command: &str, parameters: Value) -> Value {
        let command = json!({"cmd": command, "params": parameters});
        self.done(Method::POST, "/goog/cdp/execute", command).await
    }

    /// Writes a text into a field in place of the one that is there.
    pub async fn fill(&self, css: &str, text: &str) {
        let path = self.wait_for(css).await;
        self.done(Method::POST, &format!("{path}/clear"), json!({})).await;
        self.done(Method::POST, &format!("{path}/value"), json!({"text": text}))
            .await;
    }

    /// Chooses a value of a list.
    pub async fn choose(&self, css: &str, value: &str) {
        self.click(&format!("{css} > option[value=\"{value}\"]")).await;
    }

    /// Presses the button, or follows the link, that has this text; and waits until the page that it leads to is there.
    pub async fn press(&self, text: &str) {
        let path =
            format!("//button[normalize-space()='{text}' and not(@aria-hidden)] | //a[normalize-space()='{text}']");
        let selector = json!({"using": "xpath", "value": path});
        self.done(
            Method::POST,
            "/execute/sync",
            json!({"script": "window.before = true", "args": []}),
        )
        .await;
        eventually(CLICK_DEADLINE, text, async || {
            let found = self.command(Method::POST, "/element", selector.clone()).await.ok()?;
            let click = format!("/element/{}/click", found[ELEMENT].as_str()?);
            self.command(Method::POST, &click, json!({})).await.ok()
        })
        .await;
        eventually(CLICK_DEADLINE, "the next page", async || {
            let is_new = "return !window.before && document.readyState === 'complete'";
            let asked = self
                .command(Method::POST, "/execute/sync", json!({"script": is_new, "args": []}))
                .await;
            (asked.ok()? == json!(true)).then_some(())
        })
        .await;
    }

    /// The path of the first element that fits, once there is one.
    async fn wait_for(&self, css: &str) -> String {
        eventually(CLICK_DEADLINE, css, async || self.element(css).await).await
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // A request would wait for the answer, so all processes that the driver started are killed.
        let _ = kill_process_group(Pid::from_child(&self.chromedriver), Signal::KILL);
        let _ = self.chromedriver.wait();
        for pid in processes_in(self.directory.path()) {
            let _ = kill_process(pid, Signal::KILL);
        }
    }
}

fn spawn(directory: &Path, log: &Path) -> io::Result<Child> {
    use std::os::unix::process::CommandExt;
    let log = File::create(log)?;
    Command::new("chromedriver")
        .arg("--port=0")
        .current_dir(directory)
        // The browser would keep files here that are not in its profile.
        .env("HOME", directory)
        .stdin(Stdio::null())
        .stdout(log.try_clone()?)
        .stderr(log)
        .process_group(0)
        .spawn()
}

/// The first of these programs that is on PATH.
fn program(names: &[&str]) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let directories: Vec<_> = std::env::split_paths(&path).collect();
    let all = names
        .iter()
        .flat_map(|name| directories.iter().map(move |directory| directory.join(name)));
    all.into_iter().find(|program| program.is_file())
}
