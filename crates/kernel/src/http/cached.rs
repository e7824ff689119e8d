//! Public answers that clients and caches may keep for a while: `Cache-Control`, `ETag`, 304.

use actix_web::http::header::{CACHE_CONTROL, CacheControl, CacheDirective, ETAG, HeaderValue, IF_NONE_MATCH, VARY};
use actix_web::web::Bytes;
use actix_web::{HttpRequest, HttpResponse, HttpResponseBuilder};
use sha2::{Digest, Sha256};

/// Bytes of a hash in a tag: enough to distinguish the states of one subject.
const TAG_BYTES: usize = 8;

/// A body with its tag, made once for all requests.
#[derive(Debug, Clone)]
pub struct Page {
    body: Bytes,
    tag: HeaderValue,
}

impl Page {
    /// A body whose tag covers all of it.
    pub fn new(body: impl Into<Bytes>) -> Page {
        let body = body.into();
        let tag = tag(&body);
        Page { body, tag }
    }

    /// A body whose tag covers only a part.
    pub fn tagged_by(body: impl Into<Bytes>, content: &[u8]) -> Page {
        Page {
            body: body.into(),
            tag: tag(content),
        }
    }

    /// The body.
    pub fn body(&self) -> &Bytes {
        &self.body
    }

    /// The answer: 304 if the client has this content already (RFC 9110, 13.1.2).
    pub fn answer(&self, request: &HttpRequest, content_type: &'static str, max_age_s: u32) -> HttpResponse {
        let keep = CacheControl(vec![CacheDirective::Public, CacheDirective::MaxAge(max_age_s)]);
        let with_headers = |mut answer: HttpResponseBuilder| {
            answer
                .insert_header(keep)
                .insert_header((ETAG, self.tag.clone()))
                .take()
        };
        if is_known(request, &self.tag) {
            return with_headers(HttpResponse::NotModified()).finish();
        }
        with_headers(HttpResponse::Ok())
            .content_type(content_type)
            .body(self.body.clone())
    }

    /// The same for an answer that has another form for callers with a key.
    pub fn answer_without_key(
        &self,
        request: &HttpRequest,
        content_type: &'static str,
        max_age_s: u32,
    ) -> HttpResponse {
        let mut answer = self.answer(request, content_type, max_age_s);
        answer
            .headers_mut()
            .insert(VARY, HeaderValue::from_static("Authorization"));
        answer
    }

    /// The same for a body that is the same for everyone, where a caller with a key keeps nothing.
    pub fn answer_for(
        &self,
        has_key: bool,
        request: &HttpRequest,
        content_type: &'static str,
        max_age_s: u32,
    ) -> HttpResponse {
        if !has_key {
            return self.answer_without_key(request, content_type, max_age_s);
        }
        HttpResponse::Ok()
            .insert_header((CACHE_CONTROL, "no-store"))
            .content_type(content_type)
            .body(self.body.clone())
    }
}

/// JSON for a caller with a key, which nobody may keep.
pub fn private(body: impl serde::Serialize) -> HttpResponse {
    HttpResponse::Ok().insert_header((CACHE_CONTROL, "no-store")).json(body)
}

/// Weak, because the same content may have another time in it.
fn tag(content: &[u8]) -> HeaderValue {
    let digest = Sha256::digest(content);
    let text = format!("W/\"{}\"", hex::encode(&digest[..TAG_BYTES]));
    HeaderValue::try_from(text).expect("hexadecimal digits")
}

/// Weak comparison. Our tags have no comma, so a split at commas cannot make one.
fn is_known(request: &HttpRequest, tag: &HeaderValue) -> bool {
    let opaque = |tag: &str| tag.trim().trim_start_matches("W/").to_owned();
    let ours = opaque(tag.to_str().unwrap_or_default());
    let mut lines = request.headers().get_all(IF_NONE_MATCH);
    lines.any(|line| {
        let mut tags = line.to_str().unwrap_or_default().split(',');
        tags.any(|tag| tag.trim() == "*" || opaque(tag) == ours)
    })
}

#[cfg(test)]
mod tests {
    use actix_web::http::StatusCode;
    use actix_web::test::TestRequest;

    use super::*;

    fn status(page: &Page, tags: &[&str]) -> StatusCode {
        let mut request = TestRequest::get();
        for tag in tags {
            request = request.append_header((IF_NONE_MATCH, *tag));
        }
        let request = request.to_http_request();
        let answer = page.answer(&request, "text/plain", 7);
        assert_eq!(answer.headers().get(CACHE_CONTROL).unwrap(), "public, max-age=7");
        assert_eq!(answer.headers().get(ETAG), Some(&page.tag));
        answer.status()
    }

    #[test]
    fn a_client_that_has_it_gets_304() {
        let page = Page::new("a body");
        let tag = page.tag.to_str().unwrap().to_owned();
        let strong = tag.trim_start_matches("W/");
        for tags in [
            vec![tag.as_str()],
            vec![strong],
            vec!["*"],
            vec!["\"other\"", &tag],
            vec![&format!("\"a\" , {tag},W/\"b\"")],
        ] {
            assert_eq!(status(&page, &tags), StatusCode::NOT_MODIFIED, "{tags:?}");
        }
        for tags in [
            vec![],
            vec!["\"other\""],
            vec![""],
            vec!["W/"],
            vec![strong.trim_matches('"')],
        ] {
            assert_eq!(status(&page, &tags), StatusCode::OK, "{tags:?}");
        }
    }

    #[test]
    fn a_tag_stands_for_the_content() {
        assert_ne!(Page::new("one").tag, Page::new("two").tag);
        assert_eq!(
            Page::tagged_by("one, now", b"one").tag,
            Page::tagged_by("one, later", b"one").tag
        );
    }
}
