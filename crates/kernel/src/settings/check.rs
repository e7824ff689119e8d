//! Rules between settings, and rules of the texts in them.

use std::net::SocketAddr;

use jackpot_core::day;
use tracing_subscriber::EnvFilter;

use crate::built::{self, Feature};

use super::{
    BrokerKind, Connection, Durability, Events, Http, Intake, Proxies, Redis, RedisMode, Reports, Rooms, Sasl,
    Settings, SettingsError, Tls, Tracing,
};

/// The schemes that `redis.urls` may have.
const SCHEMES: [&str; 3] = ["redis://", "rediss://", "redis+unix://"];

/// The schemes of a PostgreSQL that `ledger.url` may have.
const SQL_SCHEMES: [&str; 2] = ["postgres://", "postgresql://"];

/// Longest `rooms.issuer`.
const MAX_ISSUER_CHARS: usize = 200;

/// The levels of a log.
const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];

/// Refuses the first combination that can't work.
pub(super) fn together(settings: &Settings) -> Result<(), SettingsError> {
    if settings.data_dir.as_os_str().is_empty() {
        return Err(conflict("setting data_dir: must name a directory"));
    }
    http(settings)?;
    auth(settings)?;
    redis(settings)?;
    fairness(settings)?;
    rooms(&settings.rooms)?;
    ledger(settings)?;
    reports(&settings.reports)?;
    connections(&settings.events, built::BROKERS)?;
    intake(&settings.intake, &settings.events)?;
    tracing(&settings.tracing, built::OTLP)?;
    log(&settings.log.level)
}

fn connections(events: &Events, brokers: Feature) -> Result<(), SettingsError> {
    events.connections.iter().try_for_each(|(name, connection)| {
        let absent = |absent| conflict(format!("setting events.connections.{name}: {absent}"));
        brokers.required().map_err(absent)?;
        let wrong = |(key, rule): (&str, &str)| conflict(format!("setting events.connections.{name}.{key}: {rule}"));
        broker(connection).map_err(wrong)
    })
}

/// Names of topics, subjects, groups and keys that work together. Whether a topic exists is seen when it is read.
fn intake(intake: &Intake, events: &Events) -> Result<(), SettingsError> {
    let wrong = |key: &str, rule: String| Err(conflict(format!("setting intake.{key}: {rule}")));
    let topics = [
        ("topic", &intake.topic),
        ("reply_topic", &intake.reply_topic),
        ("dead_letter_topic", &intake.dead_letter_topic),
    ];
    if intake.connection.is_empty() {
        let of_no_use = topics.iter().find(|(_, name)| !name.is_empty());
        return of_no_use.map_or(Ok(()), |(key, _)| {
            wrong(key, "has no effect without intake.connection; set that too".to_owned())
        });
    }
    let Some(connection) = events.connections.get(&intake.connection) else {
        let rule = format!(
            "must be the name of a section events.connections.NAME; there is none named {:?}",
            intake.connection
        );
        return wrong("connection", rule);
    };
    for (key, name) in topics {
        let is_left_out = key == "reply_topic" && name.is_empty();
        if let Some(rule) = connection.kind.topic_rule(name).filter(|_| !is_left_out) {
            return wrong(key, rule);
        }
    }
    // Answers would be taken as requests.
    if intake.topic == intake.reply_topic || intake.topic == intake.dead_letter_topic {
        return wrong("topic", "must differ from reply_topic and dead_letter_topic".to_owned());
    }
    if !is_group(&intake.group) {
        return wrong("group", "must be 1 to 64 of A-Z, a-z, 0-9, ., _ and -".to_owned());
    }
    if intake.key.is_empty() {
        return wrong("key", "must be the name of an API key with the role play".to_owned());
    }
    Ok(())
}

fn is_group(name: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    (1..=64).contains(&name.len()) && name.bytes().all(allowed)
}

/// The first key that is wrong, and its rule. The values can be secrets.
fn broker(of: &Connection) -> Result<(), (&'static str, &'static str)> {
    let rule = |holds: bool, key, rule| if holds { Ok(()) } else { Err((key, rule)) };
    let is_server = |server: &String| {
        let parts = server.rsplit_once(':');
        parts.is_some_and(|(host, port)| {
            let plain = !host.is_empty() && !host.contains(['/', '@', ' ']);
            plain && port.parse::<u16>().is_ok_and(|port| port > 0)
        })
    };
    rule(!of.servers.is_empty(), "servers", "needs at least one host:port")?;
    rule(
        of.servers.iter().all(is_server),
        "servers",
        "each must be host:port, such as broker-1.example:9092",
    )?;
    let of_tls = [
        ("ca_file", &of.ca_file),
        ("cert_file", &of.cert_file),
        ("key_file", &of.key_file),
    ];
    for (key, file) in of_tls {
        rule(file.is_empty() || of.tls == Tls::On, key, "is only for tls = \"on\"")?;
    }
    rule(
        of.cert_file.is_empty() == of.key_file.is_empty(),
        "key_file",
        "goes with cert_file: set both, or none",
    )?;
    rule(
        of.user.is_empty() == of.password.is_empty(),
        "password",
        "goes with user: set both, or none",
    )?;
    let ways = [&of.user, &of.token, &of.credentials_file];
    let many = ways.iter().filter(|text| !text.is_empty()).count() > 1;
    rule(!many, "user", "set one of user, token and credentials_file")?;
    if of.kind == BrokerKind::Kafka {
        rule(of.token.is_empty(), "token", "is only for NATS")?;
        rule(of.credentials_file.is_empty(), "credentials_file", "is only for NATS")?;
        let open = of.sasl == Sasl::Plain && !of.user.is_empty() && of.tls == Tls::Off;
        rule(
            !open,
            "sasl",
            "plain sends the password as it is: use tls = \"on\", or scram-sha-512",
        )?;
    }
    Ok(())
}

fn tracing(tracing: &Tracing, otlp: Feature) -> Result<(), SettingsError> {
    let url = tracing.otlp_endpoint.as_str();
    if !url.is_empty() {
        let absent = |absent| conflict(format!("setting tracing.otlp_endpoint: {absent}"));
        otlp.required().map_err(absent)?;
    }
    let rest = url.strip_prefix("http://").or_else(|| url.strip_prefix("https://"));
    match rest {
        None if url.is_empty() => Ok(()),
        // User and password would be in every message about it.
        Some(rest) if !rest.is_empty() && !rest.starts_with('/') && !rest.contains('@') => Ok(()),
        _ => Err(conflict(
            "setting tracing.otlp_endpoint: must be http:// or https:// with a host and without a user, such as \
             http://127.0.0.1:4318; OTEL_EXPORTER_OTLP_HEADERS may hold credentials",
        )),
    }
}

fn log(level: &str) -> Result<(), SettingsError> {
    let refuse = |cause: &str| SettingsError::OutOfRange {
        key: "log.level".to_owned(),
        value: format!(" = {level:?}"),
        rule: format!("off, error, warn, info, debug, trace, or a filter{cause}"),
    };
    // A single word that is no level would be a filter on a target of that name, and silence all others.
    let lone = !level.contains(['=', '[', ',']);
    let silences = lone && !LEVELS.iter().any(|known| level.trim().eq_ignore_ascii_case(known));
    if silences {
        return Err(refuse(""));
    }
    EnvFilter::try_new(level)
        .map(|_| ())
        .map_err(|error| refuse(&format!(" ({error})")))
}

fn conflict(text: impl Into<String>) -> SettingsError {
    SettingsError::Conflict(text.into())
}

fn tls(http: &Http) -> Result<(), SettingsError> {
    match (http.tls_cert_file.is_empty(), http.tls_key_file.is_empty()) {
        (false, true) => Err(conflict(
            "setting http.tls_key_file: must name the key of http.tls_cert_file; leave both empty to serve plain HTTP",
        )),
        (true, false) => Err(conflict(
            "setting http.tls_cert_file: must name the certificate of http.tls_key_file; leave both empty to serve plain HTTP",
        )),
        _ => Ok(()),
    }
}

fn http(settings: &Settings) -> Result<(), SettingsError> {
    tls(&settings.http)?;
    Proxies::parse(&settings.http.trusted_proxies)
        .map_err(|rule| conflict(format!("setting http.trusted_proxies: {rule}")))?;
    let text = &settings.http.metrics_listen;
    if text.is_empty() {
        return Ok(());
    }
    match text.parse::<SocketAddr>() {
        Ok(address) if address == settings.http.listen && address.port() != 0 => Err(conflict(
            "setting http.metrics_listen: must differ from http.listen; leave it empty to serve /metrics with the API",
        )),
        Ok(_) => Ok(()),
        Err(_) => Err(SettingsError::OutOfRange {
            key: "http.metrics_listen".to_owned(),
            value: format!(" = {text:?}"),
            rule: "an address with a port, such as 127.0.0.1:9090, or empty".to_owned(),
        }),
    }
}

fn auth(settings: &Settings) -> Result<(), SettingsError> {
    if settings.auth.burst_per_key > 0 && settings.auth.requests_per_second_per_key == 0 {
        return Err(conflict(
            "setting auth.burst_per_key: has no effect while auth.requests_per_second_per_key is 0; set that too",
        ));
    }
    Ok(())
}

fn redis(settings: &Settings) -> Result<(), SettingsError> {
    let redis = &settings.redis;
    match (redis.mode, redis.urls.len()) {
        (RedisMode::Embedded, 0) | (RedisMode::Standalone, 1) | (RedisMode::Sentinel | RedisMode::Cluster, 1..) => {}
        (RedisMode::Embedded, _) => {
            return Err(conflict(
                "setting redis.urls: the embedded server has no URL; set redis.mode to standalone, sentinel or cluster",
            ));
        }
        (RedisMode::Standalone, _) => {
            return Err(conflict(
                "setting redis.urls: redis.mode standalone needs exactly one URL",
            ));
        }
        (RedisMode::Sentinel, _) => {
            return Err(conflict(
                "setting redis.urls: redis.mode sentinel needs the URL of each Sentinel",
            ));
        }
        (RedisMode::Cluster, _) => {
            return Err(conflict(
                "setting redis.urls: redis.mode cluster needs at least one URL",
            ));
        }
    }
    // A URL can hold a password, so the message has only its place in the list.
    if let Some(index) = redis
        .urls
        .iter()
        .position(|url| !SCHEMES.iter().any(|scheme| url.starts_with(scheme)))
    {
        return Err(conflict(format!(
            "setting redis.urls: number {} must start with redis://, rediss:// or redis+unix://",
            index + 1
        )));
    }
    primary(redis)?;
    if redis.durability == Durability::Replicated && redis.mode == RedisMode::Embedded {
        return Err(conflict(
            "setting redis.durability: the embedded server has no replica; use local, or another redis.mode",
        ));
    }
    if redis.total_timeout_ms < redis.response_timeout_ms {
        return Err(conflict(format!(
            "setting redis.total_timeout_ms = {}: must be at least redis.response_timeout_ms = {}",
            redis.total_timeout_ms, redis.response_timeout_ms
        )));
    }
    Ok(())
}

fn primary(redis: &Redis) -> Result<(), SettingsError> {
    let url = redis.primary_url.as_str();
    match (redis.mode, url) {
        (RedisMode::Sentinel, "") => Err(conflict(
            "setting redis.primary_url: redis.mode sentinel needs it, with the primary's name in place of the host: \
             redis://mymaster",
        )),
        (RedisMode::Sentinel, url) if url.starts_with("redis://") || url.starts_with("rediss://") => Ok(()),
        (RedisMode::Sentinel, _) => Err(conflict(
            "setting redis.primary_url: must start with redis:// or rediss://",
        )),
        (_, "") => Ok(()),
        (..) => Err(conflict(
            "setting redis.primary_url: is only for redis.mode sentinel; leave it empty",
        )),
    }
}

/// Most retired draw secrets. Each retirement has a reason, so there are few.
const MAX_PREVIOUS_SECRETS: usize = 16;

fn fairness(settings: &Settings) -> Result<(), SettingsError> {
    let previous = &settings.fairness.previous_secrets;
    if previous.len() > MAX_PREVIOUS_SECRETS {
        return Err(conflict(format!(
            "setting fairness.previous_secrets: has {}, at most {MAX_PREVIOUS_SECRETS} are allowed",
            previous.len()
        )));
    }
    for secret in previous {
        hex_secret("fairness.previous_secrets", secret)?;
    }
    let secret = &settings.fairness.master_secret;
    if secret.is_empty() {
        if settings.redis.mode == RedisMode::Embedded {
            return Ok(());
        }
        return Err(conflict(
            "setting fairness.master_secret: needed when redis.mode is not embedded, and alike on all instances",
        ));
    }
    hex_secret("fairness.master_secret", secret)
}

/// 32 bytes; the value is secret and not repeated.
fn hex_secret(key: &str, value: &str) -> Result<(), SettingsError> {
    if value.len() == 64 && value.bytes().all(|b| b.is_ascii_hexdigit()) {
        return Ok(());
    }
    Err(SettingsError::OutOfRange {
        key: key.to_owned(),
        value: String::new(),
        rule: "64 hexadecimal digits, or empty".to_owned(),
    })
}

/// It is in every pass, and every check of a pass compares it.
fn rooms(rooms: &Rooms) -> Result<(), SettingsError> {
    // The record of a token's place says that the token was used. So the record must outlast the token.
    if rooms.join_token_s > rooms.retention_s {
        return Err(conflict(format!(
            "setting rooms.join_token_s = {}: must be at most rooms.retention_s = {}",
            rooms.join_token_s, rooms.retention_s
        )));
    }
    let issuer = &rooms.issuer;
    if (1..=MAX_ISSUER_CHARS).contains(&issuer.chars().count()) && !issuer.chars().any(char::is_control) {
        return Ok(());
    }
    Err(SettingsError::OutOfRange {
        key: "rooms.issuer".to_owned(),
        value: format!(" = {issuer:?}"),
        rule: format!("1 to {MAX_ISSUER_CHARS} characters, none of them a control character"),
    })
}

/// Figures are kept by quarters of an hour, so a day begins with one.
fn reports(reports: &Reports) -> Result<(), SettingsError> {
    let refuse = |key: &str, value: &str, rule: &str| SettingsError::OutOfRange {
        key: key.to_owned(),
        value: format!(" = {value:?}"),
        rule: rule.to_owned(),
    };
    let begin = &reports.day_starts_at;
    if day::time_of_day(begin).is_none_or(|time| time.minute() % 15 != 0) {
        let rule = "a time of day at a quarter of an hour, from 00:00 to 23:45";
        return Err(refuse("reports.day_starts_at", begin, rule));
    }
    if day::zone_named(&reports.zone).is_none() {
        let rule = "a time zone of the IANA database, such as UTC or Asia/Seoul";
        return Err(refuse("reports.zone", &reports.zone, rule));
    }
    Ok(())
}

fn ledger(settings: &Settings) -> Result<(), SettingsError> {
    // It can hold a password, so the message does not repeat it.
    let url = &settings.ledger.url;
    if let Some(path) = url.strip_prefix("sqlite://") {
        if path.is_empty() || path.starts_with(':') || path.ends_with('/') {
            return Err(conflict(
                "setting ledger.url: sqlite:// needs the path of a file after it",
            ));
        }
        if path.contains('?') {
            return Err(conflict(
                "setting ledger.url: sqlite:// takes the path of a file and no options, so that it has no ? in it",
            ));
        }
    } else if !url.is_empty() && !SQL_SCHEMES.iter().any(|scheme| url.starts_with(scheme)) {
        return Err(conflict(
            "setting ledger.url: must start with sqlite:// or postgres://, or be empty",
        ));
    }
    match settings.ledger.signing_key.as_str() {
        "" => Ok(()),
        key => hex_secret("ledger.signing_key", key),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_that_needs_an_absent_feature_names_both() {
        let (brokers, otlp) = (built::BROKERS.left_out(), built::OTLP.left_out());
        let default = Settings::from_layers(None, Vec::new()).unwrap();
        assert!(connections(&default.events, brokers).is_ok() && tracing(&default.tracing, otlp).is_ok());
        let variables = [
            ("JACKPOT__TRACING__OTLP_ENDPOINT", "http://127.0.0.1:4318"),
            ("JACKPOT__EVENTS__CONNECTIONS__MAIN__SERVERS", "127.0.0.1:4222"),
        ];
        let variables = variables.map(|(name, value)| (name.into(), value.into()));
        let set = Settings::from_layers(None, variables.into()).unwrap();
        for (refused, wanted) in [
            (
                connections(&set.events, brokers),
                "setting events.connections.main: this program was built without the feature brokers (",
            ),
            (
                tracing(&set.tracing, otlp),
                "setting tracing.otlp_endpoint: this program was built without the feature otlp (",
            ),
        ] {
            let said = refused.unwrap_err().to_string();
            assert!(said.starts_with(wanted), "{said}");
        }
    }
}
