//! The code of docs/how-to/waiting-rooms.md that checks a pass runs as it stands there, against a service.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use jackpot::room::pass::{self, Claims, PASS};
use jackpot::room::ticket::Ticket;
use jackpot_core::ids::{Id, PersonId};

use crate::room::page::support::{SHOP, link, open, room, service, signed};
use crate::support::prelude::*;

/// Calls the documented function with the arguments of the command line. Prints what the pass says as JSON, or why it
/// is refused.
const CALL: &str = r"
import json, sys
origin, token, room, user = sys.argv[1:]
try:
    print(json.dumps(verify_pass(connect(origin), token, room, user)))
except jwt.PyJWTError as error:
    print(type(error).__name__)
    sys.exit(1)
";

/// The only Python of the document.
fn snippet() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/how-to/waiting-rooms.md");
    let text = std::fs::read_to_string(path).expect("the document");
    let (_, python) = text.split_once("```python\n").expect("a snippet");
    let (python, rest) = python.split_once("```").expect("its end");
    rest.hides("```python"); // one snippet is run
    python.to_owned()
}

/// A Python that has `PyJWT`: that of the API checks, or the machine's.
fn python() -> PathBuf {
    let ours = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/tools/api/bin/python");
    let has_it = |program: &Path| {
        let asked = Command::new(program).args(["-c", "import jwt, cryptography"]).output();
        asked.is_ok_and(|asked| asked.status.success())
    };
    let mut all = [ours, PathBuf::from("python3")].into_iter();
    all.find(|program| has_it(program))
        .expect("a Python with PyJWT and cryptography is needed: run scripts/install.sh test")
}

/// Checks a pass with the documented code.
async fn check(origin: &str, token: &str, room: &str, user: &str) -> Output {
    let script = snippet() + CALL;
    let mut command = tokio::process::Command::new(python());
    command.arg("-c").arg(script).args([origin, token, room, user]);
    command.output().await.expect("python runs")
}

/// The error that the library names.
async fn refused(origin: &str, token: &str, room: &str, user: &str) -> String {
    let output = check(origin, token, room, user).await;
    assert!(!output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).expect("text").trim().to_owned()
}

#[tokio::test]
async fn the_documented_check_takes_a_pass_and_nothing_else() {
    let service = service().await;
    room(&service, "lobby", 2, &json!({})).await;
    let origin = service.url("");
    let ticket = service.post("/v1/rooms/lobby/tickets", json!({"user_id": "ann"})).await;
    ticket.is(201);
    let pass = ticket.body["pass"].as_str().expect("a pass");
    let good = check(&origin, pass, "lobby", "ann").await;
    good.done();
    let said: Value = serde_json::from_slice(&good.stdout).expect("JSON");
    assert_has!(said, {"sub": "ann", "jti": ticket.body["ticket"], "aud": "lobby"});

    assert_eq!(refused(&origin, pass, "other", "ann").await, "InvalidAudienceError");
    assert_eq!(refused(&origin, pass, "lobby", "bob").await, "InvalidSubjectError");
    let changed = format!("{}AAA", &pass[..pass.len() - 3]);
    assert_eq!(
        refused(&origin, &changed, "lobby", "ann").await,
        "InvalidSignatureError"
    );
    // The other tokens of a room, with the same key.
    let joining = link(&service, "lobby", "bob", SHOP).await;
    let join = joining.split_once("token=").expect("a token").1;
    let place = open(&service, &joining).await.location();
    let place = place.split_once("place=").expect("a token").1;
    for token in [join, place] {
        assert_eq!(refused(&origin, token, "lobby", "bob").await, "InvalidTokenError");
    }
    // Tokens of the service's own key: over by a second, of another issuer, of another type.
    let now = i64::try_from(std::time::UNIX_EPOCH.elapsed().expect("after 1970").as_secs()).expect("in range");
    let claims = |iss: &str, exp: i64| Claims {
        iss: iss.to_owned(),
        aud: Id::parse("lobby").expect("an id"),
        sub: PersonId::parse("ann").expect("an id"),
        jti: Ticket::parse(&"5f".repeat(16)).expect("a ticket"),
        iat: now - 60,
        exp,
    };
    for (typ, claims, error) in [
        (PASS, claims("jackpot", now - 1), "ExpiredSignatureError"),
        (PASS, claims("another", now + 60), "InvalidIssuerError"),
        ("JWT", claims("jackpot", now + 60), "InvalidTokenError"),
        (pass::JOIN, claims("jackpot", now + 60), "InvalidTokenError"),
    ] {
        assert_eq!(
            refused(&origin, &signed(typ, &claims), "lobby", "ann").await,
            error,
            "{typ}"
        );
    }
}
