//! Times as people read them: in UTC, which is written beside them.

use maud::{Markup, html};

/// `2026-11-24 03:06:49 UTC` from an RFC 3339 time in UTC. Another text is shown as it is.
#[must_use]
pub fn time(rfc3339: &str) -> Markup {
    html! { time datetime=(rfc3339) { (shown(rfc3339)) } }
}

fn shown(rfc3339: &str) -> String {
    let parts = rfc3339.strip_suffix('Z').and_then(|text| text.split_once('T'));
    match parts {
        Some((date, time)) => {
            let seconds = time.split('.').next().unwrap_or(time);
            format!("{date} {seconds} UTC")
        }
        None => rfc3339.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_zone_is_beside_the_time() {
        let markup = time("2026-11-24T03:06:49.123Z").into_string();
        assert_eq!(
            markup,
            "<time datetime=\"2026-11-24T03:06:49.123Z\">2026-11-24 03:06:49 UTC</time>"
        );
        assert_eq!(shown("soon"), "soon");
    }
}
