//! Passes beside an independent library of JSON Web Tokens, which has another implementation of Ed25519.

use jackpot::room::pass::{self, Claims, PASS};
use jackpot::signing::SigningKeys;
use jsonwebtoken::crypto::{CryptoProvider, JwtSigner, JwtVerifier, KeyUtils};
use jsonwebtoken::errors::{ErrorKind, Result};
use jsonwebtoken::signature::{Error, Signer, Verifier};
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation, decode, decode_header, encode};
use ring::signature::{ED25519, Ed25519KeyPair, UnparsedPublicKey};

use crate::room::http::support::{create, definition, joined, renew, said};
use crate::support::client_builder;
use crate::support::prelude::*;

/// The key with which the library signs and checks.
struct Ed25519(Vec<u8>);

impl Signer<Vec<u8>> for Ed25519 {
    fn try_sign(&self, message: &[u8]) -> std::result::Result<Vec<u8>, Error> {
        let pair = Ed25519KeyPair::from_seed_unchecked(&self.0).map_err(|_| Error::new())?;
        Ok(pair.sign(message).as_ref().to_vec())
    }
}

impl JwtSigner for Ed25519 {
    fn algorithm(&self) -> Algorithm {
        Algorithm::EdDSA
    }
}

impl Verifier<Vec<u8>> for Ed25519 {
    fn verify(&self, message: &[u8], signature: &Vec<u8>) -> std::result::Result<(), Error> {
        let key = UnparsedPublicKey::new(&ED25519, &self.0);
        key.verify(message, signature).map_err(|_| Error::new())
    }
}

impl JwtVerifier for Ed25519 {
    fn algorithm(&self) -> Algorithm {
        Algorithm::EdDSA
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as the library calls it")]
fn signer(algorithm: &Algorithm, key: &EncodingKey) -> Result<Box<dyn JwtSigner>> {
    only_ed25519(*algorithm)?;
    Ok(Box::new(Ed25519(key.as_bytes().to_vec())))
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as the library calls it")]
fn verifier(algorithm: &Algorithm, key: &DecodingKey) -> Result<Box<dyn JwtVerifier>> {
    only_ed25519(*algorithm)?;
    Ok(Box::new(Ed25519(key.try_get_as_bytes()?.to_vec())))
}

fn only_ed25519(algorithm: Algorithm) -> Result<()> {
    if algorithm == Algorithm::EdDSA {
        Ok(())
    } else {
        Err(ErrorKind::InvalidAlgorithm.into())
    }
}

static PROVIDER: CryptoProvider = CryptoProvider {
    signer_factory: signer,
    verifier_factory: verifier,
    key_utils: KeyUtils::new_unimplemented(),
};

/// Lets the library sign and check; once for each process is enough.
fn install() {
    let _installed = PROVIDER.install_default();
}

fn validation(room: &str) -> Validation {
    let mut validation = Validation::new(Algorithm::EdDSA);
    validation.set_audience(&[room]);
    validation.set_issuer(&["jackpot"]);
    validation.set_required_spec_claims(&["exp", "aud", "iss", "sub"]);
    validation.leeway = 0;
    validation
}

#[tokio::test]
async fn another_library_takes_our_passes_with_the_published_key() {
    install();
    let service = Service::start().await;
    create(&service, "lobby", 1, &json!({})).await;
    let ticket = joined(&service, "lobby", "ann").await;
    let pass = ticket["pass"].as_str().expect("a pass");
    let header = decode_header(pass).expect("a header");
    assert_eq!((header.alg, header.typ.as_deref()), (Algorithm::EdDSA, Some(PASS)));
    let keys = service.get("/v1/keys").await.body;
    let find = |kid: Option<&str>| {
        let key = keys["keys"].as_array().expect("keys").iter();
        let key = key
            .into_iter()
            .find(|key| key["kid"].as_str() == kid)
            .expect("published");
        DecodingKey::from_ed_components(key["x"].as_str().expect("a key")).expect("32 bytes")
    };
    let key = find(header.kid.as_deref());
    let read = decode::<Value>(pass, &key, &validation("lobby")).expect("a good token");
    assert_eq!(read.claims, said(&ticket["pass"]).1);
    assert_has!(read.claims, {"sub": "ann", "jti": ticket["ticket"]});
    let other = decode::<Value>(pass, &key, &validation("other")).expect_err("another room");
    assert_eq!(other.kind(), &ErrorKind::InvalidAudience);
    // A back end that checks the audience and no type takes no token of the waiting page for a pass, or the reverse.
    let origins = json!({"return_origins": ["https://shop.example"]});
    service.put("/v1/rooms/lobby", definition(1, &origins)).await.is(200);
    let wish = json!({"user_id": "ann", "return_to": "https://shop.example/"});
    let join = service.post("/v1/rooms/lobby/join-tokens", wish).await.body;
    let join = join["token"].as_str().expect("a token");
    let page = format!("/rooms/lobby/wait?token={join}");
    let to_place = client_builder()
        .redirect(reqwest::redirect::Policy::none())
        .build()
        .expect("a client");
    let to_place = to_place.get(service.url(&page)).send().await.expect("an answer");
    let place = to_place.headers()["location"]
        .to_str()
        .expect("text")
        .strip_prefix("?place=")
        .expect("a place");
    for (token, aud) in [(join, "join:lobby"), (place, "place:lobby")] {
        assert!(decode_header(token).expect("a header").typ.as_deref() != Some(PASS));
        let mut lasting = validation("lobby");
        lasting.set_required_spec_claims(&["aud"]);
        lasting.validate_exp = false;
        let refused = decode::<Value>(token, &key, &lasting).expect_err("no pass");
        assert_eq!(refused.kind(), &ErrorKind::InvalidAudience);
        lasting.set_audience(&[aud]);
        assert_eq!(
            decode::<Value>(token, &key, &lasting).expect("signed").claims["aud"],
            aud
        );
        let refused = decode::<Value>(pass, &key, &lasting).expect_err("a pass is neither");
        assert_eq!(refused.kind(), &ErrorKind::InvalidAudience);
    }
    let changed = format!("{}AAA", &pass[..pass.len() - 3]);
    let refused = decode::<Value>(changed, &key, &validation("lobby")).expect_err("another signature");
    assert_eq!(refused.kind(), &ErrorKind::InvalidSignature);

    // After a rotation a renewed pass has the new key, and the old one is still published.
    let rotated = service.command(&["key", "rotate-signing"]);
    rotated.done();
    eventually(PATIENCE, "the new key signs", async || {
        let renewed = renew(&service, "lobby", &ticket).await.body;
        let header = decode_header(renewed["pass"].as_str().expect("a pass")).expect("a header");
        (header.kid.as_deref() != said(&ticket["pass"]).0["kid"].as_str()).then_some(())
    })
    .await;
    let keys = service.get("/v1/keys").await.body;
    assert_eq!(keys["keys"].as_array().map(Vec::len), Some(2), "{keys}");
}

#[test]
fn we_take_what_another_library_makes_with_our_key() {
    install();
    let seed = [0x5f; 32];
    let keys = SigningKeys::load(&hex::encode(seed), std::path::Path::new("")).expect("a key");
    let id = keys.current().public().id().to_owned();
    let claims = json!({"iss": "jackpot", "aud": "lobby", "sub": "ann", "jti": "5f".repeat(16), "iat": 1, "exp": 2});
    let mut header = Header::new(Algorithm::EdDSA);
    header.kid = Some(id.clone());
    header.typ = Some(PASS.to_owned());
    let token = encode(&header, &claims, &EncodingKey::from_ed_der(&seed)).expect("signed");
    let opened: Claims = pass::open(|kid| keys.find(kid), PASS, &token).expect("ours");
    assert_eq!((opened.sub.as_str(), opened.exp), ("ann", 2));
    // In the other direction, the two make the same text.
    let ours = pass::sign(&keys.current(), PASS, &opened);
    let key = DecodingKey::from_ed_components(&keys.public()[0].x()).expect("32 bytes");
    let mut lasting = validation("lobby");
    lasting.validate_exp = false;
    let read = decode::<Value>(&ours, &key, &lasting).expect("a good token");
    assert_eq!(read.claims, claims);
}
