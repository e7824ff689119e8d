//! Who may call what, and how soon a change of the keys counts.

use std::time::{Duration, Instant};

use jackpot::keys::Role;

use super::support::{eventually, problem, server};
use crate::support::prelude::*;

#[tokio::test(flavor = "multi_thread")]
async fn without_a_known_key_it_is_401() {
    let server = server().await;
    let play = server.honoured_key(Role::Play, "play").await;
    let unknown = "x".repeat(10_000);
    for header in [
        "",
        "Bearer",
        "Bearer nonsense",
        "Basic abc",
        &format!("Bearer {unknown}"),
        &format!("Bearer {play}x"),
    ] {
        let answer = server
            .get("/test/read")
            .header("authorization", header)
            .send()
            .await
            .unwrap();
        assert_eq!(answer.headers()["www-authenticate"], "Bearer");
        problem(answer, 401, "unauthorized").await;
    }
    let twice = server
        .get("/test/play-or-read")
        .bearer_auth(&play)
        .bearer_auth(&play)
        .send()
        .await
        .unwrap();
    problem(twice, 401, "unauthorized").await;
    problem(server.get("/test/read").send().await.unwrap(), 401, "unauthorized").await;
    // The service checks the key before it looks at the body.
    let answer = server
        .request(Method::POST, "/test/play")
        .body("no json")
        .send()
        .await
        .unwrap();
    problem(answer, 401, "unauthorized").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn roles_open_their_own_doors() {
    let server = server().await;
    let play = server.honoured_key(Role::Play, "p").await;
    let read = server.honoured_key(Role::Read, "r").await;
    let operate = server.honoured_key(Role::Operate, "o").await;
    for (path, open_to) in [
        ("/test/read", ["", "r", "o"]),
        ("/test/operate", ["", "", "o"]),
        ("/test/play-or-read", ["p", "r", "o"]),
        ("/test/anyone?private", ["", "r", "o"]),
    ] {
        for (key, name) in [&play, &read, &operate].into_iter().zip(open_to) {
            let answer = server.get(path).bearer_auth(key).send().await.unwrap();
            if name.is_empty() {
                problem(answer, 403, "forbidden").await;
            } else {
                assert_eq!(answer.text().await.unwrap(), name, "{path}");
            }
        }
    }
    assert_eq!(server.get("/test/anyone").send().await.unwrap().status(), 200);
    problem(
        server.get("/test/anyone").bearer_auth("wrong").send().await.unwrap(),
        401,
        "unauthorized",
    )
    .await;
    problem(
        server.get("/test/anyone?private").send().await.unwrap(),
        401,
        "unauthorized",
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_operator_key_works() {
    let server = server().await;
    let text = std::fs::read_to_string(server.keys.path().with_file_name("operator.key")).unwrap();
    let answer = server
        .get("/test/operate")
        .bearer_auth(text.trim())
        .send()
        .await
        .unwrap();
    assert_eq!(answer.text().await.unwrap(), "operator");
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_count_and_cease_to_count_within_two_seconds() {
    let server = server().await;
    let begun = Instant::now();
    let key = server.honoured_key(Role::Read, "brief").await;
    assert!(begun.elapsed() < Duration::from_secs(2));
    let begun = Instant::now();
    server.keys.revoke(&"brief".parse().unwrap()).unwrap();
    let refused = async || {
        server
            .get("/test/read")
            .bearer_auth(&key)
            .send()
            .await
            .unwrap()
            .status()
            == 401
    };
    eventually("the key to be refused", refused).await;
    assert!(begun.elapsed() < Duration::from_secs(2));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broken_key_file_keeps_the_keys_that_were() {
    let server = server().await;
    let key = server.honoured_key(Role::Read, "kept").await;
    let good = std::fs::read(server.keys.path()).unwrap();
    let works = async || {
        server
            .get("/test/read")
            .bearer_auth(&key)
            .send()
            .await
            .unwrap()
            .status()
            == 200
    };
    for broken in ["[[key]]\nname = 1\n", "", "[[key]]\nname = \"a b\"\n"] {
        std::fs::write(server.keys.path(), broken).unwrap();
        if broken.is_empty() {
            // An empty file is a valid one without keys.
            eventually("all keys to be gone", async || !works().await).await;
            std::fs::write(server.keys.path(), &good).unwrap();
            eventually("the key to be back", &works).await;
            continue;
        }
        // Longer than two looks at the file: if the service had taken it, it would refuse the key by now.
        let until = Instant::now() + Duration::from_millis(1200);
        while Instant::now() < until {
            assert!(works().await);
        }
    }
    std::fs::remove_file(server.keys.path()).unwrap();
    let until = Instant::now() + Duration::from_millis(1200);
    while Instant::now() < until {
        assert!(works().await);
    }
}
