use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;

use jiff::ToSpan;
use rcgen::{CertificateParams, KeyPair, PKCS_ED25519, date_time_ymd};
use tempfile::TempDir;

use super::*;

struct Files {
    directory: TempDir,
}

impl Files {
    fn new() -> Files {
        let files = Files {
            directory: tempfile::tempdir().unwrap(),
        };
        let (cert, key) = pair();
        files.write("cert.pem", &cert);
        files.write("key.pem", &key);
        files
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
        std::fs::set_permissions(self.path(name), Permissions::from_mode(0o640)).unwrap();
    }

    fn read(&self) -> Result<CertifiedKey, TlsError> {
        read_pair(&self.path("cert.pem"), &self.path("key.pem"), Timestamp::now())
    }

    fn refused(&self, setting: &str, reason: &str) {
        let error = self.read().expect_err(reason).to_string();
        assert!(error.starts_with(&format!("setting {setting}: ")), "{error}");
        assert!(error.contains(reason), "{error}");
    }
}

fn pair() -> (String, String) {
    let key = KeyPair::generate().unwrap();
    let cert = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    (cert.self_signed(&key).unwrap().pem(), key.serialize_pem())
}

#[test]
fn a_pair_is_read_with_its_chain() {
    let files = Files::new();
    let (other, _) = pair();
    let chain = std::fs::read_to_string(files.path("cert.pem")).unwrap() + &other;
    files.write("cert.pem", &chain);
    assert_eq!(files.read().unwrap().cert.len(), 2);
    let key = KeyPair::generate_for(&PKCS_ED25519).unwrap();
    let cert = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    files.write("cert.pem", &cert.self_signed(&key).unwrap().pem());
    files.write("key.pem", &key.serialize_pem());
    files.read().unwrap();
}

#[test]
fn what_is_wrong_with_a_pair_is_said() {
    let files = Files::new();
    let (cert, key) = pair();
    files.write("key.pem", &key);
    files.refused(KEY_SETTING, "does not match the certificate");
    for text in ["", "no pem", &key] {
        files.write("cert.pem", text);
        files.refused(CERT_SETTING, "certificate");
    }
    files.write("cert.pem", &cert[..cert.len() / 2]);
    files.refused(CERT_SETTING, "PEM");
    files.write("cert.pem", &cert);
    for text in ["", &key[..key.len() / 2], &cert] {
        files.write("key.pem", text);
        files.refused(KEY_SETTING, "private key");
    }
    std::fs::remove_file(files.path("key.pem")).unwrap();
    files.refused(KEY_SETTING, "No such file");
    // A pipe that nobody writes to must not hold up the start.
    for (name, setting) in [("key.pem", KEY_SETTING), ("cert.pem", CERT_SETTING)] {
        files.write("cert.pem", &cert);
        let _ = std::fs::remove_file(files.path(name));
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mknodat(rustix::fs::CWD, files.path(name), rustix::fs::FileType::Fifo, mode, 0).unwrap();
        files.refused(setting, "regular file");
        std::fs::remove_file(files.path(name)).unwrap();
        files.write("key.pem", &key);
    }
}

#[test]
fn a_key_that_others_can_read_is_refused() {
    let files = Files::new();
    for (mode, fits) in [
        (0o600, true),
        (0o640, true),
        (0o644, false),
        (0o602, false),
        (0o601, false),
    ] {
        std::fs::set_permissions(files.path("key.pem"), Permissions::from_mode(mode)).unwrap();
        if fits {
            files.read().unwrap();
        } else {
            files.refused(KEY_SETTING, "lets others read it; run `chmod 640");
        }
    }
}

#[test]
fn a_certificate_that_is_not_valid_now_is_refused() {
    let files = Files::new();
    let key = KeyPair::generate().unwrap();
    let dated = |from: (i32, u8, u8), to: (i32, u8, u8)| {
        let mut cert = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
        cert.not_before = date_time_ymd(from.0, from.1, from.2);
        cert.not_after = date_time_ymd(to.0, to.1, to.2);
        cert.self_signed(&key).unwrap().pem()
    };
    files.write("key.pem", &key.serialize_pem());
    files.write("cert.pem", &dated((2001, 2, 3), (2004, 5, 6)));
    files.refused(CERT_SETTING, "expired at 2004-05-06T00:00:00Z");
    files.write("cert.pem", &dated((2400, 1, 1), (2401, 1, 1)));
    files.refused(CERT_SETTING, "valid only from 2400-01-01T00:00:00Z");
    files.write("cert.pem", &dated((2001, 2, 3), (2400, 1, 1)));
    files.read().unwrap();
    // RFC 5280, 4.1.2.5: the end of a certificate that has none.
    files.write("cert.pem", &dated((2001, 2, 3), (9999, 12, 31)));
    files.read().unwrap();
    let in_time = Validity::of(&files.read().unwrap().cert[0]).unwrap();
    assert!(in_time.check(Timestamp::now() + 24.hours()).is_ok());
}

#[test]
fn a_broken_pair_leaves_the_one_that_was() {
    let files = Files::new();
    let certificates = Certificates::open(&files.path("cert.pem"), &files.path("key.pem")).unwrap();
    let before = certificates.current.load_full();
    let (cert, key) = pair();
    files.write("cert.pem", &cert);
    certificates.reload(Timestamp::now()).unwrap_err();
    assert_eq!(certificates.current.load().cert, before.cert);
    files.write("key.pem", &key);
    assert!(certificates.reload(Timestamp::now()).unwrap());
    assert_ne!(certificates.current.load().cert, before.cert);
    assert!(!certificates.reload(Timestamp::now()).unwrap(), "the same again");
}
