//! `jackpot health`: the health check of a container image, which has no other HTTP client.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use super::{CommandResult, SettingsArgs};
use crate::settings::{Http, Settings};
use crate::tls;

/// Ask the running service with these settings whether it is alive (`/healthz`), and print its answer. Exit code 1 when
/// it does not answer, or not with 200.
#[derive(clap::Args)]
pub(super) struct Args {
    /// Ask whether it can serve (`/readyz`) in place of whether it is alive.
    #[arg(long)]
    ready: bool,
    #[command(flatten)]
    settings: SettingsArgs,
}

/// Shorter than the time that engines give a check.
const ANSWER_LIMIT: Duration = Duration::from_secs(4);

pub(super) fn run(args: &Args) -> CommandResult {
    let settings = Settings::load(args.settings.config.as_deref())?;
    let path = if args.ready { "/readyz" } else { "/healthz" };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let text = runtime.block_on(ask(&format!("{}{path}", base(&settings.http))))?;
    println!("{text}");
    Ok(())
}

async fn ask(url: &str) -> Result<String, super::Failure> {
    tls::install_provider();
    let client = reqwest::Client::builder()
        // It asks this machine and sends no secret. The certificate names another host, or comes from an unknown
        // authority.
        .tls_danger_accept_invalid_certs(true)
        .timeout(ANSWER_LIMIT)
        .no_proxy()
        .build()?;
    let answer = client.get(url).send().await?;
    let status = answer.status();
    let text = answer.text().await?;
    if status.is_success() {
        Ok(text)
    } else {
        Err(format!("{url} answers {status}: {text}").into())
    }
}

/// The address of the API, from this machine.
pub(super) fn base(http: &Http) -> String {
    let scheme = if http.tls_cert_file.is_empty() { "http" } else { "https" };
    let ip = match http.listen.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    format!("{scheme}://{}", SocketAddr::new(ip, http.listen.port()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_of_all_interfaces_is_asked_on_this_machine() {
        let mut http = Settings::load(None).expect("the defaults").http;
        for (listen, expected) in [
            ("0.0.0.0:8080", "http://127.0.0.1:8080"),
            ("[::]:8443", "http://[::1]:8443"),
            ("192.0.2.1:80", "http://192.0.2.1:80"),
        ] {
            http.listen = listen.parse().expect("an address");
            assert_eq!(base(&http), expected);
        }
        "chain.pem".clone_into(&mut http.tls_cert_file);
        assert_eq!(base(&http), "https://192.0.2.1:80");
    }
}
