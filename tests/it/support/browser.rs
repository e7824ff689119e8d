//! A real browser without a window: Chromium, driven by chromedriver as the WebDriver standard has it.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, geteuid, kill_process, kill_process_group};
use serde_json::json;
use tempfile::TempDir;
use thirtyfour::{By, ChromeCapabilities, ChromiumLikeCapabilities, WebDriver};

use super::eventually;
use super::service::processes_in;

/// For the driver and for the browser, each, on a loaded machine.
const START_DEADLINE: Duration = Duration::from_mins(1);

/// For a page to be there and to stay for as long as a click takes.
const CLICK_DEADLINE: Duration = Duration::from_secs(30);

/// Names that the browser has on PATH.
const BROWSERS: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/// What a machine without it lacks.
const NEEDED: &str = "chromium and chromedriver are needed on PATH: apt-get install chromium chromium-driver \
                      (on Ubuntu, where those are snaps, Google Chrome and its chromedriver)";

/// Whether pages may run scripts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scripts {
    /// They may.
    On,
    /// They may not, as a user can set it.
    Off,
}

/// A browser with a profile of its own. Nothing of it is left when this goes.
pub struct Browser {
    driver: Option<WebDriver>,
    chromedriver: Child,
    directory: TempDir,
}

impl Browser {
    /// Starts one.
    ///
    /// # Panics
    /// When it isn't installed, saying what to install, or does not start.
    pub async fn start(scripts: Scripts) -> Self {
        let directory = tempfile::Builder::new()
            .prefix("jackpot-browser-")
            .tempdir()
            .expect("a temporary directory can be made");
        let browser = program(&BROWSERS).expect(NEEDED);
        let log = directory.path().join("log");
        let chromedriver = spawn(directory.path(), &log).expect(NEEDED);
        let mut browser_of_test = Self {
            driver: None,
            chromedriver,
            directory,
        };
        let port = browser_of_test.port(&log).await;
        jackpot::tls::install_provider();
        let wishes = browser_of_test.wishes(&browser, scripts);
        let driver = WebDriver::builder(format!("http://127.0.0.1:{port}"), wishes)
            .request_timeout(START_DEADLINE)
            .connect()
            .await;
        browser_of_test.driver = Some(driver.unwrap_or_else(|error| panic!("the browser starts: {error}")));
        browser_of_test
    }

    fn wishes(&self, browser: &Path, scripts: Scripts) -> ChromeCapabilities {
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
        let mut wishes = ChromeCapabilities::new();
        let wish = |wishes: &mut ChromeCapabilities, name: &str, value: serde_json::Value| {
            wishes.add_experimental_option(name, value).expect("plain data is JSON");
        };
        wish(&mut wishes, "binary", json!(browser));
        wish(&mut wishes, "args", json!(arguments));
        wish(&mut wishes, "prefs", preferences);
        wishes
    }

    /// The port that the driver chose.
    async fn port(&mut self, log: &Path) -> u16 {
        let process = &mut self.chromedriver;
        eventually(START_DEADLINE, "chromedriver listens", async || {
            let said = std::fs::read_to_string(log).unwrap_or_default();
            if let Some(status) = process.try_wait().expect("a child can be asked for its status") {
                panic!("chromedriver ended with {status}: {said}");
            }
            let (_, port) = said.split_once("started successfully on port ")?;
            port.split_once('.')?.0.parse().ok()
        })
        .await
    }

    fn driver(&self) -> &WebDriver {
        self.driver.as_ref().expect("it was started")
    }

    /// Goes to an address, and waits until the page there is loaded.
    pub async fn open(&self, url: &str) {
        self.driver().goto(url).await.expect("the address can be opened");
    }

    /// Where it is.
    pub async fn url(&self) -> String {
        self.driver().current_url().await.expect("it is somewhere").into()
    }

    /// The title of the page.
    pub async fn title(&self) -> String {
        self.driver().title().await.expect("a title")
    }

    /// What the first element that fits shows; `None`: there is none, or the page is just being changed.
    pub async fn text(&self, css: &str) -> Option<String> {
        let element = self.driver().find(By::Css(css.to_owned())).await.ok()?;
        element.text().await.ok()
    }

    /// Clicks on the first element that fits, once there is one; also on a page that is just loaded again.
    pub async fn click(&self, css: &str) {
        eventually(CLICK_DEADLINE, css, async || {
            let element = self.driver().find(By::Css(css.to_owned())).await.ok()?;
            element.click().await.ok()
        })
        .await;
    }

    /// What a script in the page gives back: the test's own, which no setting keeps from running.
    pub async fn ask(&self, script: &str) -> serde_json::Value {
        let answer = self.driver().execute(script, Vec::new()).await;
        answer.expect("the script runs").json().clone()
    }

    /// Gives its pages the width of a small phone, 320 pixels.
    pub async fn narrow(&self) {
        let screen = json!({"width": 320, "height": 640, "deviceScaleFactor": 1, "mobile": true});
        let answer = self
            .driver()
            .cdp()
            .send_raw("Emulation.setDeviceMetricsOverride", screen)
            .await;
        answer.expect("a page can be made smaller");
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // Not by asking it, which would wait for the answer: all that it started is killed.
        if let Some(driver) = self.driver.take() {
            let _ended = driver.leak();
        }
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
        // Where the browser would keep what is not in its profile.
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
