//! The proxy of the tests does what the tests of faults rely on.

use std::time::Duration;

use crate::support::local::connect;
use crate::support::prelude::*;
use crate::support::proxy::ChaosProxy;

async fn incr(url: &str, key: &str) -> redis::RedisResult<i64> {
    redis::cmd("INCR").arg(key).query_async(&mut connect(url).await?).await
}

#[tokio::test]
async fn a_lost_reply_leaves_the_command_executed_and_its_caller_unanswered() {
    let server = TestRedis::start().await;
    let proxy = ChaosProxy::in_front_of(server.url()).await;
    let key = TestRedis::id("lost");
    proxy.lose_reply(&["INCR", &key], 1);

    assert_eq!(
        incr(proxy.url(), &TestRedis::id("other"))
            .await
            .expect("another key passes"),
        1
    );
    assert_eq!(incr(proxy.url(), &key).await.expect("the first passes"), 1);
    incr(proxy.url(), &key).await.expect_err("the second has no answer");
    assert_eq!(proxy.lost(), 1);
    assert_eq!(
        incr(proxy.url(), &key).await.expect("the third passes"),
        3,
        "the second was executed"
    );
}

#[tokio::test]
async fn an_error_reply_passes_and_does_not_use_the_rule_up() {
    let server = TestRedis::start().await;
    let proxy = ChaosProxy::in_front_of(server.url()).await;
    let key = TestRedis::id("error");
    proxy.lose_reply(&["EVAL", &key], 0);

    let mut connection = connect(proxy.url()).await.expect("the proxy answers");
    let unknown = "0".repeat(40);
    let refused = redis::cmd("EVALSHA")
        .arg(&unknown)
        .arg(1)
        .arg(&key)
        .exec_async(&mut connection)
        .await
        .expect_err("unknown");
    assert_eq!(refused.code(), Some("NOSCRIPT"));
    assert_eq!(proxy.lost(), 0);
    let script = "return redis.call('INCR', KEYS[1])";
    let lost = redis::cmd("EVAL")
        .arg(script)
        .arg(1)
        .arg(&key)
        .exec_async(&mut connection)
        .await;
    lost.expect_err("the reply to the EVAL is lost");
    assert_eq!(proxy.lost(), 1);
    assert_eq!(incr(server.url(), &key).await.expect("the server answers"), 2);
}

#[tokio::test]
async fn of_a_pipeline_the_replies_before_the_lost_one_arrive() {
    let server = TestRedis::start().await;
    let proxy = ChaosProxy::in_front_of(server.url()).await;
    let key = TestRedis::id("pipeline");
    proxy.lose_reply(&["INCR", &key], 1);
    let mut connection = connect(proxy.url()).await.expect("the proxy answers");
    let (mut one, mut two) = (connection.clone(), connection.clone());
    let get = redis::cmd("INCR").arg(&key).clone();
    let answers = tokio::join!(
        get.query_async::<i64>(&mut connection),
        get.query_async::<i64>(&mut one),
        get.query_async::<i64>(&mut two)
    );
    assert_eq!(answers.0.expect("the first arrives"), 1);
    answers.1.expect_err("the second is lost");
    answers.2.expect_err("the third came after it on the same connection");
}

#[tokio::test]
async fn a_stall_holds_answers_back_until_it_ends() {
    let server = TestRedis::start().await;
    let proxy = ChaosProxy::in_front_of(server.url()).await;
    let key = TestRedis::id("stall");
    let mut connection = connect(proxy.url()).await.expect("the proxy answers");
    proxy.stall();
    let mut call = tokio::spawn(async move { redis::cmd("INCR").arg(&key).query_async(&mut connection).await });
    tokio::time::timeout(Duration::from_millis(150), &mut call)
        .await
        .expect_err("no answer during the stall");
    proxy.pass();
    let value: i64 = call.await.expect("the task ends").expect("the answer arrives");
    assert_eq!(value, 1);
}

#[tokio::test]
async fn down_cuts_and_refuses_until_it_passes_again() {
    let server = TestRedis::start().await;
    let proxy = ChaosProxy::in_front_of(server.url()).await;
    let key = TestRedis::id("down");
    let mut open = connect(proxy.url()).await.expect("the proxy answers");
    proxy.down();
    redis::cmd("INCR")
        .arg(&key)
        .exec_async(&mut open)
        .await
        .expect_err("the connection was cut");
    assert!(connect(proxy.url()).await.is_err(), "a new one is refused");
    proxy.pass();
    let value = eventually(Duration::from_secs(5), "it passes again", async || {
        incr(proxy.url(), &key).await.ok()
    })
    .await;
    assert_eq!(value, 1);
}
