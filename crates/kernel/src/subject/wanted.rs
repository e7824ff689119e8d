//! The precondition of a PUT of a definition.

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wanted {
    /// No precondition.
    Any,
    /// The subject must not exist (`If-None-Match: *`).
    Absent,
    /// The subject must exist (`If-Match: *`).
    Present,
    /// The last version must be one of these (`If-Match`).
    Versions(Vec<u64>),
}

impl Wanted {
    /// As scripts get it (`lua/subject/puts.lua`).
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
