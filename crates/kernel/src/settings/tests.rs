use std::ffi::OsString;
use std::io::Write;
use std::path::Path;

use super::{BrokerKind, RedisMode, Settings, SettingsError, Tls, layer, range};
use config::{File, FileFormat, Source, ValueKind};

fn with(file: Option<&str>, variables: &[(&str, &str)]) -> Result<Settings, SettingsError> {
    let variables = variables
        .iter()
        .map(|(name, value)| (OsString::from(name), OsString::from(value)))
        .collect();
    match file {
        None => Settings::from_layers(None, variables),
        Some(text) => {
            let mut written = tempfile::NamedTempFile::new().unwrap();
            written.write_all(text.as_bytes()).unwrap();
            Settings::from_layers(Some(written.path()), variables)
        }
    }
}

fn refusal(file: Option<&str>, variables: &[(&str, &str)]) -> String {
    with(file, variables)
        .expect_err("these settings must be refused")
        .to_string()
}

#[test]
fn the_default_stands_alone() {
    let settings = with(None, &[]).unwrap();
    assert_eq!(settings.http.listen.to_string(), "127.0.0.1:8080");
    assert_eq!(settings.redis.mode, RedisMode::Embedded);
}

#[test]
fn every_integer_has_a_range() {
    let default = layer::flatten(
        File::from_str(include_str!("../../../../config/default.toml"), FileFormat::Toml)
            .collect()
            .unwrap(),
    );
    for (key, value) in default {
        assert!(
            !matches!(value.kind, ValueKind::I64(_)) || range::has(&key),
            "{key} has no range"
        );
    }
}

#[test]
fn production_fits() {
    let secret = "5f".repeat(32);
    let variables = [
        ("JACKPOT__FAIRNESS__MASTER_SECRET", secret.as_str()),
        ("JACKPOT__REDIS__URLS", "rediss://a:1,rediss://b:2"),
    ];
    let settings = with(Some(include_str!("../../../../config/production.toml")), &variables).unwrap();
    assert_eq!(settings.redis.mode, RedisMode::Cluster);
}

#[test]
fn the_ledger_is_a_file_or_a_postgres() {
    for url in [
        "",
        "sqlite:///var/lib/a ledger",
        "sqlite://here.db",
        "postgres://u:p@h/d",
        "postgresql://h",
    ] {
        assert!(with(None, &[("JACKPOT__LEDGER__URL", url)]).is_ok(), "{url}");
    }
    for url in [
        "mysql://u:hidden@h",
        "/hidden.db",
        "sqlite://",
        "sqlite://hidden/",
        "sqlite://hidden?mode=ro",
        "sqlite://:memory:",
    ] {
        let text = refusal(None, &[("JACKPOT__LEDGER__URL", url)]);
        assert!(
            text.starts_with("setting ledger.url: ") && !text.contains("hidden"),
            "{text}"
        );
    }
    let text = refusal(None, &[("JACKPOT__LEDGER__SIGNING_KEY", "topsecret")]);
    assert_eq!(
        text,
        "setting ledger.signing_key: must be 64 hexadecimal digits, or empty"
    );
    let key = "ab".repeat(32);
    let settings = with(
        None,
        &[
            ("JACKPOT__LEDGER__SIGNING_KEY", key.as_str()),
            ("JACKPOT__LEDGER__URL", "postgres://u:topsecret@h/d"),
        ],
    )
    .unwrap();
    let shown = format!("{settings:?}");
    assert!(!shown.contains(&key) && !shown.contains("topsecret"), "{shown}");
}

#[test]
fn intake_needs_a_connection_its_topics_and_a_key() {
    let right = [
        ("JACKPOT__EVENTS__CONNECTIONS__BUS__SERVERS", "a:4222"),
        ("JACKPOT__INTAKE__CONNECTION", "bus"),
        ("JACKPOT__INTAKE__TOPIC", "in.requests"),
        ("JACKPOT__INTAKE__DEAD_LETTER_TOPIC", "out.dead"),
        ("JACKPOT__INTAKE__KEY", "games"),
    ];
    assert!(with(None, &right).is_ok());
    for (name, value, begin) in [
        (
            "CONNECTION",
            "",
            "setting intake.topic: has no effect without intake.connection",
        ),
        (
            "CONNECTION",
            "none",
            "setting intake.connection: must be the name of a section",
        ),
        ("TOPIC", "", "setting intake.topic: must be words"),
        ("TOPIC", "in.>", "setting intake.topic: must be words"),
        ("TOPIC", "out.dead", "setting intake.topic: must differ from"),
        ("REPLY_TOPIC", "in.requests", "setting intake.topic: must differ from"),
        ("REPLY_TOPIC", "$JS", "setting intake.reply_topic: must be words"),
        (
            "DEAD_LETTER_TOPIC",
            "",
            "setting intake.dead_letter_topic: must be words",
        ),
        ("GROUP", "a b", "setting intake.group: must be 1 to 64"),
        ("KEY", "", "setting intake.key: must be the name of an API key"),
        (
            "MAX_IN_FLIGHT",
            "0",
            "setting intake.max_in_flight = 0: must be 1 to 4096",
        ),
    ] {
        let name = format!("JACKPOT__INTAKE__{name}");
        let mut changed: Vec<_> = right.iter().copied().filter(|(other, _)| *other != name).collect();
        changed.push((&name, value));
        let text = refusal(None, &changed);
        assert!(text.starts_with(begin), "{name}={value}: {text}");
    }
}

#[test]
fn the_environment_overrides_the_file_and_the_file_the_default() {
    let file = "[http]\nlisten = \"127.0.0.1:1\"\nworkers = 3\n[log]\n";
    let settings = with(Some(file), &[("JACKPOT__HTTP__LISTEN", "127.0.0.1:2")]).unwrap();
    assert_eq!(
        (
            settings.http.listen.port(),
            settings.http.workers,
            settings.http.keep_alive_s
        ),
        (2, 3, 75)
    );
}

#[test]
fn strings_of_digits_stay_strings_and_lists_split_at_commas() {
    let secret = "1".repeat(64);
    let settings = with(
        None,
        &[
            ("JACKPOT__FAIRNESS__MASTER_SECRET", &secret),
            ("JACKPOT__REDIS__MODE", "cluster"),
            ("JACKPOT__REDIS__URLS", "redis://a:1, redis://b:2"),
            ("JACKPOT__DATA_DIR", "1e5"),
        ],
    )
    .unwrap();
    assert_eq!(settings.fairness.master_secret, secret);
    assert_eq!(settings.redis.urls, ["redis://a:1", "redis://b:2"]);
    assert_eq!(settings.data_dir, Path::new("1e5"));
}

#[test]
fn a_file_of_another_format_is_refused_before_its_keys() {
    assert!(with(Some("format = 1"), &[]).is_ok());
    let refused = refusal(Some("format = 2\n[later]\nkey = 1"), &[]);
    assert!(
        refused.contains("format = 2, and this version reads format 1"),
        "{refused}"
    );
    assert!(refusal(None, &[("JACKPOT__FORMAT", "2")]).contains("setting format"));
}

#[test]
fn a_primary_behind_sentinels_is_named_by_a_url() {
    let with_url = |mode: &str, url: &str| {
        let urls = if mode == "embedded" { "" } else { "redis://a,redis://b" };
        refusal(
            None,
            &[
                ("JACKPOT__REDIS__MODE", mode),
                ("JACKPOT__REDIS__URLS", urls),
                ("JACKPOT__REDIS__PRIMARY_URL", url),
            ],
        )
    };
    for (mode, url) in [
        ("sentinel", ""),
        ("sentinel", "mymaster"),
        ("sentinel", "redis+unix:///socket"),
        ("cluster", "redis://mymaster"),
        ("embedded", "redis://mymaster"),
    ] {
        let refused = with_url(mode, url);
        assert!(refused.contains("redis.primary_url"), "{mode} {url}: {refused}");
    }
    let without_urls = [
        ("JACKPOT__REDIS__MODE", "sentinel"),
        ("JACKPOT__REDIS__PRIMARY_URL", "redis://mymaster"),
    ];
    assert!(refusal(None, &without_urls).contains("redis.urls"));
}

#[test]
fn spans_go_to_an_address_without_a_user() {
    let at = |url| with(None, &[("JACKPOT__TRACING__OTLP_ENDPOINT", url)]);
    assert!(at("http://127.0.0.1:4318").is_ok());
    for url in [
        "collector:4318",
        "http://",
        "http:///v1",
        "grpc://collector",
        "http://user:hunter2@collector",
    ] {
        let refused = at(url).expect_err(url).to_string();
        assert!(refused.contains("tracing.otlp_endpoint"), "{url}: {refused}");
        assert!(!refused.contains("hunter2"), "{refused}");
    }
}

#[test]
fn a_file_and_the_environment_set_booleans() {
    let file = Some("[events]\nallow_private_targets = true\n");
    assert!(with(file, &[]).unwrap().events.allow_private_targets);
    let variable = ("JACKPOT__EVENTS__ALLOW_PRIVATE_TARGETS", "false");
    assert!(!with(file, &[variable]).unwrap().events.allow_private_targets);
    let text = refusal(Some("[events]\nallow_private_targets = 1\n"), &[]);
    assert!(text.ends_with("expected a boolean, found an integer"), "{text}");
}

#[test]
fn unknown_keys_are_named_in_full() {
    assert!(refusal(Some("[http]\nport = 1\n"), &[]).contains("unknown setting http.port in "));
    assert!(refusal(Some("[ledgers]\n"), &[]).contains("unknown setting ledgers in "));
    let text = refusal(None, &[("JACKPOT__HTTP__PORT", "1")]);
    assert_eq!(
        text,
        "unknown setting http.port in the environment variable JACKPOT__HTTP__PORT"
    );
    assert!(refusal(None, &[("JACKPOT__HTTP", "1")]).contains("unknown setting http in "));
}

#[test]
fn wrong_types_are_named() {
    let text = refusal(None, &[("JACKPOT__HTTP__WORKERS", "many")]);
    assert!(
        text.starts_with("setting http.workers in ") && text.ends_with("expected an integer, found \"many\""),
        "{text}"
    );
    assert!(refusal(Some("[http]\nworkers = \"4\"\n"), &[]).contains("expected an integer, found a string"));
    assert!(refusal(Some("[http]\nworkers = 4.0\n"), &[]).contains("found a number with a fraction"));
    assert!(refusal(Some("[redis]\nurls = [1]\n"), &[]).contains("expected a list of strings"));
    assert!(refusal(Some("data_dir = {a = 1}\n"), &[]).contains("unknown setting data_dir.a"));
}

#[test]
fn values_out_of_range_are_named_with_the_range() {
    assert_eq!(
        refusal(None, &[("JACKPOT__HTTP__WORKERS", "257")]),
        "setting http.workers = 257: must be 0 to 256"
    );
    assert_eq!(
        refusal(None, &[("JACKPOT__HTTP__WORKERS", "-1")]),
        "setting http.workers = -1: must be 0 to 256"
    );
    assert_eq!(
        refusal(None, &[("JACKPOT__REDIS__MAX_MEMORY_MIB", "3")]),
        "setting redis.max_memory_mib = 3: must be 0 or 16 to 1048576"
    );
    let text = refusal(None, &[("JACKPOT__REDIS__MODE", "tree")]);
    assert!(
        text == "setting redis.mode = \"tree\": must be embedded or standalone or sentinel or cluster",
        "{text}"
    );
    let text = refusal(None, &[("JACKPOT__HTTP__LISTEN", "8080")]);
    assert!(text.starts_with("setting http.listen = \"8080\": must be"), "{text}");
    assert!(refusal(None, &[("JACKPOT__LOG__LEVEL", "a=b=c")]).starts_with("setting log.level = "));
    for level in ["loud", "verbose"] {
        assert!(refusal(None, &[("JACKPOT__LOG__LEVEL", level)]).starts_with("setting log.level = "));
    }
    assert!(with(None, &[("JACKPOT__LOG__LEVEL", "INFO,actix_web=debug")]).is_ok());
    assert!(refusal(None, &[("JACKPOT__HTTP__METRICS_LISTEN", "x")]).starts_with("setting http.metrics_listen = "));
}

#[test]
fn secrets_are_not_repeated() {
    let text = refusal(None, &[("JACKPOT__FAIRNESS__MASTER_SECRET", "topsecret")]);
    assert_eq!(
        text,
        "setting fairness.master_secret: must be 64 hexadecimal digits, or empty"
    );
    let url = [
        ("JACKPOT__REDIS__MODE", "standalone"),
        ("JACKPOT__REDIS__URLS", "http://u:hidden@h"),
    ];
    assert!(!refusal(None, &url).contains("hidden"));
    let unquoted = format!("\n[fairness]\nmaster_secret = {}\n", "5f".repeat(32));
    let text = refusal(Some(&unquoted), &[]);
    assert!(text.contains("line 3") && !text.contains("5f5f"), "{text}");
    let secret = "ab".repeat(32);
    let settings = with(None, &[("JACKPOT__FAIRNESS__MASTER_SECRET", &secret)]).unwrap();
    assert!(!format!("{settings:?}").contains(&secret));
}

#[test]
fn what_does_not_go_together_is_refused() {
    let refused = |variables: &[(&str, &str)], part: &str| {
        let text = refusal(None, variables);
        assert!(text.contains(part), "{text}");
    };
    refused(&[("JACKPOT__REDIS__MODE", "cluster")], "redis.urls");
    refused(&[("JACKPOT__REDIS__URLS", "redis://a")], "redis.urls");
    let standalone = [
        ("JACKPOT__REDIS__MODE", "standalone"),
        ("JACKPOT__REDIS__URLS", "redis://a"),
    ];
    refused(&standalone, "fairness.master_secret");
    refused(&[("JACKPOT__REDIS__DURABILITY", "replicated")], "redis.durability");
    refused(
        &[("JACKPOT__REDIS__TOTAL_TIMEOUT_MS", "999")],
        "redis.response_timeout_ms = 1000",
    );
    refused(
        &[("JACKPOT__AUTH__BURST_PER_KEY", "5")],
        "auth.requests_per_second_per_key",
    );
    refused(&[("JACKPOT__DATA_DIR", "")], "data_dir");
    refused(
        &[("JACKPOT__HTTP__TRUSTED_PROXIES", "10.0.0.0/8, proxy.example")],
        "setting http.trusted_proxies: \"proxy.example\" must be an address or a CIDR range",
    );
    let (token, retention) = ("JACKPOT__ROOMS__JOIN_TOKEN_S", "JACKPOT__ROOMS__RETENTION_S");
    refused(&[(token, "61"), (retention, "60")], "rooms.retention_s = 60");
    assert!(with(None, &[(token, "60"), (retention, "60")]).is_ok());
}

#[test]
fn a_chosen_file_that_is_missing_is_an_error() {
    assert!(refusal(None, &[("JACKPOT_ENV", "no-such")]).contains("config/no-such.toml"));
    assert!(refusal(None, &[("JACKPOT_ENV", "../etc/passwd")]).contains("JACKPOT_ENV"));
    assert!(Settings::from_layers(Some(Path::new("no-such.toml")), vec![]).is_err());
}

#[test]
fn half_of_the_cores_answer_beside_an_embedded_redis() {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut settings = with(None, &[]).unwrap();
    assert_eq!(settings.workers(), (cores / 2).max(1));
    settings.redis.mode = RedisMode::Standalone;
    assert_eq!(settings.workers(), cores);
    settings.http.workers = 3;
    assert_eq!(settings.workers(), 3);
}

#[test]
fn the_issuer_of_passes_is_a_short_line() {
    let issuer = |text: &str| with(None, &[("JACKPOT__ROOMS__ISSUER", text)]);
    for good in ["jackpot", "https://play.example/", &"ä".repeat(200)] {
        assert!(issuer(good).is_ok(), "{good}");
    }
    for wrong in ["", "two\nlines", &"x".repeat(201)] {
        let text = issuer(wrong).unwrap_err().to_string();
        assert!(text.starts_with("setting rooms.issuer"), "{text}");
    }
}

/// A file with this content, closed to others.
fn secret_file(content: &[u8]) -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(content).unwrap();
    file
}

#[test]
fn every_secret_has_a_twin_that_names_a_file() {
    let hex = "5f".repeat(32);
    let one_line = secret_file(format!("{hex}\r\n").as_bytes());
    let previous = secret_file(format!("{}\n\n{}\n", "aa".repeat(32), "bb".repeat(32)).as_bytes());
    let url = secret_file(b"postgres://u:p@h/db\n");
    let urls = secret_file(b"rediss://a:1\r\n  rediss://b:2");
    let path = |file: &tempfile::NamedTempFile| file.path().to_str().unwrap().to_owned();
    let text = format!(
        "[redis]\nmode = \"cluster\"\nurls_file = {:?}\n[ledger]\nurl_file = {:?}\n",
        path(&urls),
        path(&url)
    );
    let (one_line, previous) = (path(&one_line), path(&previous));
    let variables = [
        ("JACKPOT__FAIRNESS__MASTER_SECRET_FILE", one_line.as_str()),
        ("JACKPOT__FAIRNESS__PREVIOUS_SECRETS_FILE", previous.as_str()),
        ("JACKPOT__LEDGER__SIGNING_KEY_FILE", one_line.as_str()),
    ];
    let settings = with(Some(&text), &variables).unwrap();
    assert_eq!(
        (&settings.fairness.master_secret, &settings.ledger.signing_key),
        (&hex, &hex)
    );
    assert_eq!(settings.fairness.previous_secrets, ["aa".repeat(32), "bb".repeat(32)]);
    assert_eq!(settings.ledger.url, "postgres://u:p@h/db");
    assert_eq!(settings.redis.urls, ["rediss://a:1", "rediss://b:2"]);
    let shown = format!("{settings:?}");
    for secret in ["5f5f", "aaaa", "bbbb", "u:p", "rediss"] {
        assert!(!shown.contains(secret), "{shown}");
    }
}

#[test]
fn a_connection_to_a_broker_has_a_name_of_its_own() {
    assert!(with(None, &[]).unwrap().events.connections.is_empty());
    let password = secret_file(b"pa55word\n");
    let path = password.path().to_str().unwrap();
    let text = "[events.connections.main]\nservers = [\"a:4222\", \"b:4222\"]\nuser = \"u\"\n";
    let variables = [
        ("JACKPOT__EVENTS__CONNECTIONS__MAIN__PASSWORD_FILE", path),
        ("JACKPOT__EVENTS__CONNECTIONS__LOG_2__KIND", "kafka"),
        ("JACKPOT__EVENTS__CONNECTIONS__LOG_2__TLS", "off"),
        ("JACKPOT__EVENTS__CONNECTIONS__LOG_2__SERVERS", "k1:9092,k2:9092"),
    ];
    let settings = with(Some(text), &variables).unwrap();
    let all: Vec<_> = settings.events.connections.iter().collect();
    let [(first, log), (second, main)] = all.as_slice() else {
        panic!("{:?}", settings.events)
    };
    assert_eq!(
        (first.as_str(), log.kind, log.tls),
        ("log_2", BrokerKind::Kafka, Tls::Off)
    );
    assert_eq!(log.servers, ["k1:9092", "k2:9092"]);
    assert_eq!(
        (second.as_str(), main.kind, main.tls),
        ("main", BrokerKind::Nats, Tls::On)
    );
    assert_eq!((main.user.as_str(), main.password.as_str()), ("u", "pa55word"));
    assert!(!format!("{settings:?}").contains("pa55word"));
}

#[test]
fn a_wrong_connection_is_named_by_key_and_rule() {
    for (line, key, part) in [
        ("user = \"\"", "servers", "at least one"),
        ("servers = [\"a\"]", "servers", "host:port"),
        ("servers = [\"a:0\"]", "servers", "host:port"),
        ("servers = [\"nats://a:1\"]", "servers", "host:port"),
        ("servers = [\"a:1\"]\nkind = \"rabbit\"", "kind", "nats or kafka"),
        ("servers = [\"a:1\"]\ntls = \"maybe\"", "tls", "on or off"),
        ("servers = [\"a:1\"]\nsasl = \"md5\"", "sasl", "scram-sha-512"),
        (
            "servers = [\"a:1\"]\ntls = \"off\"\nca_file = \"f\"",
            "ca_file",
            "only for tls",
        ),
        ("servers = [\"a:1\"]\ncert_file = \"f\"", "key_file", "cert_file"),
        ("servers = [\"a:1\"]\nuser = \"u\"", "password", "user"),
        (
            "servers = [\"a:1\"]\nuser = \"u\"\npassword = \"p\"\ntoken = \"t\"",
            "user",
            "one of",
        ),
        (
            "servers = [\"a:1\"]\nkind = \"kafka\"\ntoken = \"hidden\"",
            "token",
            "only for NATS",
        ),
        (
            "servers = [\"a:1\"]\nkind = \"kafka\"\ntls = \"off\"\nuser = \"u\"\npassword = \"hidden\"\nsasl = \"plain\"",
            "sasl",
            "tls",
        ),
        ("colour = \"red\"", "colour", "unknown"),
    ] {
        let said = refusal(Some(&format!("[events.connections.main]\n{line}\n")), &[]);
        let named = format!("events.connections.main.{key}");
        assert!(
            said.contains(&named) && said.contains(part) && !said.contains("hidden"),
            "{line}: {said}"
        );
    }
    let said = refusal(Some("[events.connections.Main]\nservers = [\"a:1\"]\n"), &[]);
    assert!(said.contains("events.connections.Main"), "{said}");
    let said = refusal(Some("[events.connections.\"*\"]\nservers = [\"a:1\"]\n"), &[]);
    assert!(said.contains("events.connections.*"), "{said}");
}

#[test]
fn a_setting_beside_its_twin_is_refused_by_name() {
    let file = secret_file("5f".repeat(32).as_bytes());
    let path = file.path().to_str().unwrap();
    let hex = "5f".repeat(32);
    let said = refusal(
        None,
        &[
            ("JACKPOT__FAIRNESS__MASTER_SECRET", hex.as_str()),
            ("JACKPOT__FAIRNESS__MASTER_SECRET_FILE", path),
        ],
    );
    assert_eq!(
        said,
        "settings fairness.master_secret and fairness.master_secret_file: set one of them, not both"
    );
    let said = refusal(
        Some("[redis]\nurls = [\"redis://u:hidden@h\"]\n"),
        &[("JACKPOT__REDIS__URLS_FILE", path)],
    );
    assert!(
        said.contains("redis.urls and redis.urls_file") && !said.contains("hidden"),
        "{said}"
    );
}

#[test]
fn a_twin_that_is_wrong_is_named_with_its_file_and_never_with_its_content() {
    let long = "x".repeat(100_000);
    for (content, part) in [
        (&b""[..], "is empty"),
        (b"\n \r\n", "is empty"),
        (b"hidden", "64 hexadecimal digits"),
        (b"hidden\nhidden", "must hold one line"),
        (b"hidden\xff", "UTF-8"),
        (long.as_bytes(), "at most 65536 bytes"),
    ] {
        let file = secret_file(content);
        let path = file.path().to_str().unwrap();
        let said = refusal(None, &[("JACKPOT__FAIRNESS__MASTER_SECRET_FILE", path)]);
        assert!(
            said.contains("fairness.master_secret_file") && said.contains(path) && said.contains(part),
            "{said}"
        );
        assert!(!said.contains("hidden") && !said.contains("xxx"), "{said}");
    }
    let url = secret_file(b"http://u:hidden@h");
    let said = refusal(None, &[("JACKPOT__LEDGER__URL_FILE", url.path().to_str().unwrap())]);
    assert!(
        said.contains("ledger.url_file names") && !said.contains("hidden"),
        "{said}"
    );
    let missing = refusal(None, &[("JACKPOT__LEDGER__SIGNING_KEY_FILE", "/no/such/file")]);
    assert!(missing.contains("ledger.signing_key_file: /no/such/file"), "{missing}");
    let directory = refusal(None, &[("JACKPOT__LEDGER__SIGNING_KEY_FILE", "/tmp")]);
    assert!(directory.contains("regular file"), "{directory}");
    let open = secret_file("5f".repeat(32).as_bytes());
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o644);
    std::fs::set_permissions(open.path(), mode).unwrap();
    let said = refusal(
        None,
        &[("JACKPOT__LEDGER__SIGNING_KEY_FILE", open.path().to_str().unwrap())],
    );
    assert!(
        said.contains("mode 0644 lets others read it") && said.contains("chmod 640"),
        "{said}"
    );
}

#[test]
fn a_variable_that_is_no_setting_is_named_and_an_unknown_setting_refused() {
    let settings = with(None, &[("JACKPOT_PORT", "tcp://10.0.0.1:80"), ("JACKPOT_ENV", "")]).unwrap();
    assert_eq!(settings.unknown_variables, ["JACKPOT_PORT"]);
    assert!(refusal(None, &[("JACKPOT__PORT", "80")]).contains("JACKPOT__PORT"));
}

#[test]
fn days_of_reports_begin_at_a_quarter_of_an_hour_of_a_zone() {
    let days = |at, zone| {
        with(
            None,
            &[
                ("JACKPOT__REPORTS__DAY_STARTS_AT", at),
                ("JACKPOT__REPORTS__ZONE", zone),
            ],
        )
    };
    assert!(days("23:45", "Asia/Kathmandu").is_ok());
    for at in ["", "24:00", "06:10", "6:00", "06:00:00"] {
        let refused = days(at, "UTC").expect_err(at).to_string();
        assert!(
            refused.contains("reports.day_starts_at") && refused.contains("a quarter of an hour"),
            "{refused}"
        );
    }
    for zone in ["", "Mars/Olympus", "+09:00"] {
        let refused = days("06:00", zone).expect_err(zone).to_string();
        assert!(
            refused.contains("reports.zone") && refused.contains("IANA"),
            "{refused}"
        );
    }
}
