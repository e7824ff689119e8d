//! What must be there before a definition is put.

/// What must be there before a definition is put.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wanted {
    /// Anything or nothing.
    Any,
    /// Nothing (`If-None-Match: *`).
    Absent,
    /// Something (`If-Match: *`).
    Present,
    /// One of these last versions (`If-Match`).
    Versions(Vec<u64>),
}

impl Wanted {
    /// As scripts get it (`lua/stream/puts.lua`).
    #[must_use]
    pub fn to_text(&self) -> String {
        match self {
            Self::Any => String::new(),
            Self::Absent => "absent".to_owned(),
            Self::Present => "present".to_owned(),
            Self::Versions(versions) => {
                let versions = versions.iter().map(u64::to_string).collect::<Vec<_>>();
                format!(",{},", versions.join(","))
            }
        }
    }
}
