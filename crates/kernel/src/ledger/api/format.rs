//! The format in which a list is answered, by `Accept` (RFC 9110, 12.5.1).

use actix_web::HttpRequest;
use actix_web::http::header::ACCEPT;

/// How rows are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// A page.
    Json,
    /// All rows, RFC 4180 with a header line.
    Csv,
    /// All rows, a JSON object each line.
    Ndjson,
}

impl Format {
    /// The format that the client prefers; JSON when it does not say, or wants none of ours.
    pub fn of(request: &HttpRequest) -> Self {
        let headers = request
            .headers()
            .get_all(ACCEPT)
            .filter_map(|value| value.to_str().ok());
        Self::best(headers.flat_map(|header| header.split(',')))
    }

    /// The first of those with the highest quality.
    fn best<'a>(ranges: impl Iterator<Item = &'a str>) -> Self {
        let mut best = (0, Self::Json);
        for range in ranges {
            let mut parts = range.split(';').map(str::trim);
            let format = match parts.next().unwrap_or_default().to_ascii_lowercase().as_str() {
                "application/json" | "application/*" | "*/*" => Self::Json,
                "text/csv" | "text/*" => Self::Csv,
                "application/x-ndjson" => Self::Ndjson,
                _ => continue,
            };
            let quality = parts.find_map(quality).unwrap_or(1000);
            if quality > best.0 {
                best = (quality, format);
            }
        }
        best.1
    }

    /// The media type.
    pub fn content_type(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::Csv => "text/csv; charset=utf-8; header=present",
            Self::Ndjson => "application/x-ndjson",
        }
    }

    /// The extension of a file's name.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Csv => "csv",
            Self::Ndjson => "ndjson",
        }
    }
}

/// `q=0.5` in thousandths; `None`, which is less than any other, for a value that can't be read.
fn quality(parameter: &str) -> Option<u32> {
    let (name, value) = parameter.split_once('=')?;
    if !name.trim().eq_ignore_ascii_case("q") {
        return None;
    }
    let (whole, fraction) = value.trim().split_once('.').unwrap_or((value.trim(), ""));
    let thousandths = format!("{fraction:0<3}")
        .get(..3)
        .and_then(|digits| digits.parse().ok());
    let whole: Option<u32> = whole.parse().ok();
    Some(whole.zip(thousandths).map_or(0, |(whole, rest): (u32, u32)| {
        whole.saturating_mul(1000).saturating_add(rest).min(1000)
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_liked_form_wins() {
        let cases = [
            ("", Format::Json),
            ("*/*", Format::Json),
            ("text/csv", Format::Csv),
            ("Text/CSV; charset=utf-8", Format::Csv),
            ("application/x-ndjson, */*", Format::Ndjson),
            ("text/html, */*;q=0.8", Format::Json),
            ("text/csv;q=0.5, application/x-ndjson;q=0.9", Format::Ndjson),
            ("text/csv;q=0.5, application/x-ndjson;q=0.55", Format::Ndjson),
            ("application/json, text/csv", Format::Json),
            ("text/csv;q=0", Format::Json),
            ("text/csv;q=nonsense", Format::Json),
            ("image/png", Format::Json),
            ("text/*", Format::Csv),
        ];
        for (header, format) in cases {
            assert_eq!(Format::best(header.split(',')), format, "{header}");
        }
    }
}
