//! Certificates of the tests: an authority, and a server that it signed.

use std::fs;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, KeyUsagePurpose};
use tempfile::TempDir;

/// Files: `ca.pem` of our authority, `other.pem` of another one, `cert.pem` and `key.pem` of a server of 127.0.0.1 that ours
/// signed.
pub struct Certificates(TempDir);

impl Certificates {
    pub fn new() -> Self {
        let files = Self(TempDir::new().unwrap());
        let ours = authority();
        let key = KeyPair::generate().unwrap();
        let certificate = CertificateParams::new(vec![String::from("127.0.0.1")])
            .unwrap()
            .signed_by(&key, &ours)
            .unwrap();
        fs::write(files.path("ca.pem"), ours.pem()).unwrap();
        fs::write(files.path("other.pem"), authority().pem()).unwrap();
        fs::write(files.path("cert.pem"), certificate.pem()).unwrap();
        fs::write(files.path("key.pem"), key.serialize_pem()).unwrap();
        files
    }

    pub fn path(&self, name: &str) -> String {
        self.0.path().join(name).to_str().unwrap().to_owned()
    }
}

fn authority() -> CertifiedIssuer<'static, KeyPair> {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
    // A name of its own: a certificate whose subject is its issuer counts as signed by itself.
    params
        .distinguished_name
        .push(DnType::CommonName, "an authority of tests");
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}
