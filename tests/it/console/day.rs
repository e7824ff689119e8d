//! An operator's day in a real browser, without a command line but where the console itself asks for one: define, fund, play, see a
//! win and check its receipt, answer a mismatch, restore, redrive a dead letter, throttle a room, rotate, change a definition, export.

use super::pages::sign_in;
use crate::coupon::http::support::{hold, join, release, until};
use crate::fault::ledger_support::COMPARED_OFTEN;
use crate::support::browser::{Browser, Scripts};
use crate::support::local::LocalServer;
use crate::support::prelude::*;

/// The browser and the service of the day.
struct Day {
    service: Service,
    redis: LocalServer,
    browser: Browser,
}

impl Day {
    async fn open(&self, path: &str) {
        self.browser.open(&self.service.url(path)).await;
    }

    async fn fill(&self, field: &str, text: &str) {
        self.browser.fill(&format!("[name=\"{field}\"]"), text).await;
    }

    async fn choose(&self, field: &str, value: &str) {
        self.browser.choose(&format!("[name=\"{field}\"]"), value).await;
    }

    /// The last step of an action.
    async fn confirm(&self, reason: &str, button: &str) {
        self.fill("reason", reason).await;
        self.browser.press(button).await;
    }

    /// Waits until the page, loaded again and again, says this.
    async fn shows(&self, text: &str) {
        eventually(PATIENCE, text, async || {
            let shown = self.browser.text("main").await?;
            if shown.contains(text) {
                return Some(());
            }
            let _ = self.browser.ask("location.reload()").await;
            None
        })
        .await;
    }

    /// What the page says now.
    async fn says(&self, text: &str) {
        let shown = self.browser.text("main").await.unwrap_or_default();
        shown.says(text);
    }

    async fn redis(&self, command: &[&str]) {
        let mut asked = redis::cmd(command[0]);
        asked.arg(&command[1..]);
        asked
            .exec_async(&mut self.redis.connection().await)
            .await
            .expect("Redis answers");
    }

    async fn jackpot(&self) -> Value {
        self.service.get("/v1/jackpots/day").await.body
    }
}

#[tokio::test]
async fn heavy_an_operators_day_needs_no_curl() {
    let redis = own_redis(&[]).await;
    let service = service_on(redis.url(), &[COMPARED_OFTEN]).await;
    let browser = Browser::start(Scripts::On).await;
    sign_in(&browser, &service).await;
    let mut day = Day {
        service,
        redis,
        browser,
    };
    define_and_fund(&day).await;
    play_and_check(&day).await;
    answer_a_mismatch(&mut day).await;
    redrive(&day).await;
    throttle(&day).await;
    rotate_and_change(&day).await;
    export(&day).await;
    audit(&day).await;
}

async fn define_and_fund(day: &Day) {
    day.browser.press("First steps").await;
    day.browser
        .click("a[href='/console/new-jackpot?template=single']")
        .await;
    day.fill("id", "day").await;
    day.fill("name", "Jackpot of the day").await;
    day.browser.press("Remove prize 2").await;
    day.fill("odds.total", "1").await;
    day.browser.press("Show what will change").await;
    day.says("The jackpot is created and takes entries at once.").await;
    day.confirm("the day begins", "Put this definition").await;
    day.says("The definition is put.").await;
    day.browser.press("Adjust").await;
    day.fill("amount", "500").await;
    day.browser.press("Show what will change").await;
    day.says("€500.00").await;
    day.confirm("seed money", "Adjust").await;
    day.says("The adjustment is made.").await;
}

async fn play_and_check(day: &Day) {
    day.open("/console/guide").await;
    day.choose("jackpot", "day").await;
    day.fill("player_id", "player-7").await;
    day.fill("stake", "1.00").await;
    day.browser.press("Play one entry").await;
    day.says("Entry 1: €500.01 from grand").await;
    day.browser.press("Payouts").await;
    day.shows("€500.01").await;
    day.browser.press("day #1").await;
    day.says("The signature is valid.").await;
}

/// Somebody changes a pool by hand. The console says what differs and what to run; then the operator resumes.
async fn answer_a_mismatch(day: &mut Day) {
    day.redis(&["SET", "jp:{day}:pool:grand", "999"]).await;
    day.open("/console/").await;
    day.shows("Suspended").await;
    day.open("/console/ledger/jackpot/day").await;
    day.shows("mismatch").await;
    let command = "jackpot restore --jackpot day";
    day.says(command).await;
    let stopped = day.service.stop().await;
    assert!(stopped.success(), "{stopped}");
    let restored = day.service.command(&["restore", "--jackpot", "day"]);
    restored.done();
    // Its only jackpot is still suspended, so it is not ready.
    day.service.restart_begun().await;
    eventually(PATIENCE, "the service answers", async || {
        (day.jackpot().await["status"] == "suspended").then_some(())
    })
    .await;
    // The session goes on.
    day.open("/console/jackpots/day").await;
    eventually(PATIENCE, "the jackpot is resumed", async || {
        day.open("/console/jackpots/day/resume").await;
        day.confirm("restored from the ledger", "Resume").await;
        (day.jackpot().await["status"] == "open").then_some(())
    })
    .await;
    day.open("/console/ledger/jackpot/day").await;
    day.shows("agrees").await;
}

async fn redrive(day: &Day) {
    let coupon = json!({"name": "Coffee", "stock": 9, "per_user": 2, "starts_at": "2026-01-01T00:00:00Z", "ends_at": "2100-01-01T00:00:00Z"});
    day.service.put("/v1/coupons/coffee", coupon).await;
    // The user has a unit, so that a broken record changes no number that is compared: the coupon would be suspended, and
    // the queue would wait.
    let first = json!({"request_id": "q0", "user_id": "user-1"});
    day.service.post("/v1/coupons/coffee/issues", first).await.is(201);
    let users = "cp:{coffee}:users";
    let whole: String = redis::cmd("HGET")
        .arg(&[users, "user-1"])
        .query_async(&mut day.redis.connection().await)
        .await
        .expect("the record of the user");
    hold(&day.redis, "coffee").await;
    join(&day.service, "coffee", "q1", "user-1").await;
    day.redis(&["HSET", users, "user-1", "broken"]).await;
    release(&day.redis, "coffee").await;
    until(&day.service, "coffee", "q1", "dead").await;
    day.redis(&["HSET", users, "user-1", &whole]).await;
    day.browser.press("Coupons").await;
    day.browser.press("Coffee").await;
    day.browser.click("a[href$='/dead-letters']").await;
    day.browser.click("a[href*='redrive?only=q1']").await;
    day.confirm("the record is repaired", "Redrive").await;
    until(&day.service, "coffee", "q1", "issued").await;
}

async fn throttle(day: &Day) {
    let room = json!({"name": "Lobby", "capacity": 5, "session_s": 300, "waiting_timeout_s": 60});
    day.service.put("/v1/rooms/lobby", room).await;
    day.open("/console/rooms/lobby").await;
    day.browser.press("Throttle").await;
    day.fill("capacity", "2").await;
    day.fill("admissions_per_minute", "30").await;
    day.browser.press("Show what will change").await;
    day.confirm("the shop is slow", "Throttle").await;
    let room = day.service.get("/v1/rooms/lobby").await.body;
    assert_has!(room, {"capacity": 2, "admissions_per_minute": 30});
}

async fn rotate_and_change(day: &Day) {
    day.open("/console/jackpots/day").await;
    day.browser.press("Rotate the epoch").await;
    day.confirm("end of the shift", "Rotate the epoch").await;
    day.says("A new epoch is open.").await;
    // A pool that holds money: a change of odds waits.
    day.browser.press("Adjust").await;
    day.fill("amount", "200").await;
    day.browser.press("Show what will change").await;
    day.confirm("for tomorrow", "Adjust").await;
    day.browser.press("Change the definition").await;
    day.fill("odds.total", "2").await;
    day.browser.press("Show what will change").await;
    day.says("It waits for the next take of all").await;
    day.confirm("fewer wins", "Put this definition").await;
    day.says("A definition waits").await;
    // The next win brings it into force.
    day.open("/console/guide").await;
    day.choose("jackpot", "day").await;
    day.browser.press("Play one entry").await;
    day.says("from grand").await;
    let jackpot = day.jackpot().await;
    assert_eq!(
        (&jackpot["odds"]["total"], &jackpot["pending"]),
        (&json!(2), &Value::Null)
    );
}

/// The export that a click downloads.
async fn export(day: &Day) {
    day.open("/console/commands?jackpot=day").await;
    let link = day
        .browser
        .ask(
            "return [...document.querySelectorAll('a')].map((a) => a.href).find((to) => to.endsWith('/ledger/export'))",
        )
        .await;
    let link = link.as_str().expect("a link to the export");
    let script = format!("return fetch({link:?}).then((answer) => answer.text())");
    let text = day.browser.ask(&script).await;
    let first = text.as_str().expect("text").lines().next().expect("a line");
    assert_eq!(
        serde_json::from_str::<Value>(first).expect("JSON")["jackpot_id"],
        "day",
        "{first}"
    );
}

async fn audit(day: &Day) {
    day.open("/console/audit").await;
    for reason in [
        "the day begins",
        "seed money",
        "restored from the ledger",
        "the record is repaired",
        "the shop is slow",
        "end of the shift",
        "for tomorrow",
        "fewer wins",
    ] {
        day.shows(reason).await;
    }
}
