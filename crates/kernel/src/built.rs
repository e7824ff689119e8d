//! What this program was built with: features of Cargo. A plain build and a release have all; `make run` leaves them out, so
//! that a first run compiles less (docs/decisions/0067).

use std::sync::LazyLock;

/// A part of the program that a build may leave out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Feature {
    /// As `Cargo.toml` names it.
    name: &'static str,
    what: &'static str,
    is_built: bool,
}

/// Connections to Kafka and NATS.
pub const BROKERS: Feature = Feature {
    name: "brokers",
    what: "connections to Kafka and NATS",
    is_built: cfg!(feature = "brokers"),
};

/// Spans by OTLP.
pub const OTLP: Feature = Feature {
    name: "otlp",
    what: "traces by OTLP",
    is_built: cfg!(feature = "otlp"),
};

/// `jackpot simulate`.
pub const SIMULATE: Feature = Feature {
    name: "simulate",
    what: "jackpot simulate",
    is_built: cfg!(feature = "simulate"),
};

const ALL: [Feature; 3] = [BROKERS, OTLP, SIMULATE];

/// A feature that is needed and absent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "this program was built without the feature {name} ({what}): build it with `cargo build --locked`, which has all, or use a release"
)]
pub struct Absent {
    name: &'static str,
    what: &'static str,
}

impl Feature {
    /// # Errors
    /// The program was built without it.
    pub fn required(self) -> Result<(), Absent> {
        if self.is_built { Ok(()) } else { Err(self.absent()) }
    }

    /// What a program without it says; the files that stand in its place say it always.
    pub fn absent(self) -> Absent {
        let Self { name, what, .. } = self;
        Absent { name, what }
    }

    /// The same in a program without it: tests see by it what such a program says.
    #[must_use]
    pub fn left_out(self) -> Self {
        Self {
            is_built: false,
            ..self
        }
    }
}

/// The version, and what the build lacks.
pub fn version() -> &'static str {
    static VERSION: LazyLock<String> = LazyLock::new(|| version_with(&ALL));
    &VERSION
}

fn version_with(features: &[Feature]) -> String {
    let version = env!("CARGO_PKG_VERSION");
    let absent: Vec<_> = features
        .iter()
        .filter(|one| !one.is_built)
        .map(|one| one.name)
        .collect();
    if absent.is_empty() {
        version.to_owned()
    } else {
        format!("{version} (built without {})", absent.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_absent_feature_is_named_with_what_to_do() {
        let absent = OTLP.left_out();
        let said = absent.required().unwrap_err().to_string();
        assert!(said.contains("without the feature otlp (traces by OTLP)"), "{said}");
        assert!(said.contains("cargo build --locked"), "{said}");
        let built = Feature { is_built: true, ..OTLP };
        assert_eq!(built.required(), Ok(()));
        assert_eq!(
            version_with(&[built, absent]),
            concat!(env!("CARGO_PKG_VERSION"), " (built without otlp)")
        );
        assert_eq!(version_with(&[built]), env!("CARGO_PKG_VERSION"));
    }
}
