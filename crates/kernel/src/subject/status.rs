//! The statuses of a capability's subjects. Each has one name, in answers and in Redis.

/// Declares the enum, `as_str`, its inverse `parse` and the field of events and replies from one list of names.
#[macro_export]
macro_rules! status {
    (
        $(#[doc = $doc:literal])+
        pub enum $name:ident as $type:literal {
            $( $(#[doc = $about:literal])+ $variant:ident = $text:literal ),+ $(,)?
        }
    ) => {
        $(#[doc = $doc])+
        #[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        pub enum $name {
            $( $(#[doc = $about])+ #[serde(rename = $text)] $variant, )+
        }

        impl $name {
            /// Its name in answers and in Redis.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self {
                    $( Self::$variant => $text, )+
                }
            }

            /// The inverse of [`as_str`](Self::as_str).
            #[must_use]
            pub fn parse(text: &str) -> Option<Self> {
                match text {
                    $( $text => Some(Self::$variant), )+
                    _ => None,
                }
            }
        }

        impl jackpot_core::wire::Field for $name {
            const TYPE: &'static str = $type;
            const PATTERN: &'static str = "%l+";

            fn read(text: &str) -> Option<Self> {
                Self::parse(text)
            }

            fn write(&self, out: &mut String) {
                out.push_str(self.as_str());
            }
        }
    };
}
