//! Sets of names: the values of a state, a result or a reason, which are texts in answers, in Redis, in events and in
//! metrics.

/// Declares an enum whose values have one name each: its serde form, `as_str`, its inverse `parse`, and `ALL`. With
/// `as` it is also a field of events and replies, of that type.
///
/// ```
/// use jackpot_core::wire::Field;
///
/// jackpot_core::names! {
///     /// How full a glass is.
///     pub enum Glass as "`full` or `half-full`" {
///         /// To the brim.
///         Full = "full",
///         /// Not quite.
///         HalfFull = "half-full",
///     }
/// }
///
/// assert_eq!(Glass::HalfFull.as_str(), "half-full");
/// assert_eq!(Glass::parse("half-full"), Some(Glass::HalfFull));
/// assert_eq!(Glass::ALL.map(|glass| glass.text()), ["full", "half-full"]);
/// assert_eq!(serde_json::to_string(&Glass::Full).unwrap(), "\"full\"");
/// assert_eq!(Glass::PATTERN, "[%l-]+");
/// ```
#[macro_export]
macro_rules! names {
    (
        $(#[$meta:meta])*
        $vis:vis enum $name:ident $(as $type:literal)? {
            $( $(#[$about:meta])* $variant:ident = $text:tt ),+ $(,)?
        }
    ) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        $(#[$meta])*
        $vis enum $name {
            $( $(#[$about])* #[serde(rename = $text)] $variant, )+
        }

        #[allow(dead_code, reason = "a set may be only written, or only read")]
        impl $name {
            /// All of them.
            $vis const ALL: [Self; [$($text),+].len()] = [$(Self::$variant),+];

            /// Their names.
            $vis const NAMES: [&'static str; [$($text),+].len()] = [$($text),+];

            /// Its name.
            #[must_use]
            $vis const fn as_str(self) -> &'static str {
                match self {
                    $( Self::$variant => $text, )+
                }
            }

            /// The inverse of [`as_str`](Self::as_str).
            #[must_use]
            $vis fn parse(text: &str) -> Option<Self> {
                match text {
                    $( $text => Some(Self::$variant), )+
                    _ => None,
                }
            }
        }

        $(
            $crate::event_part!($name);

            impl $crate::wire::Field for $name {
                const TYPE: &'static str = $type;
                const PATTERN: &'static str = $crate::names::pattern(&Self::NAMES);

                fn read(text: &str) -> Option<Self> {
                    Self::parse(text)
                }

                fn write(&self, out: &mut String) {
                    out.push_str(self.as_str());
                }
            }
        )?
    };
}

/// The Lua pattern of these names, which have small letters and maybe dashes.
#[doc(hidden)]
#[must_use]
pub const fn pattern(names: &[&str]) -> &'static str {
    let mut name = 0;
    while name < names.len() {
        let (letters, mut letter) = (names[name].as_bytes(), 0);
        while letter < letters.len() {
            if letters[letter] == b'-' {
                return "[%l-]+";
            }
            letter += 1;
        }
        name += 1;
    }
    "%l+"
}

#[cfg(test)]
mod tests {
    use utoipa::PartialSchema;

    crate::names! {
        /// How full a glass is.
        #[derive(utoipa::ToSchema)]
        enum Glass {
            /// To the brim.
            Full = "full",
            /// Not quite.
            HalfFull = "half-full",
        }
    }

    #[test]
    fn a_description_has_the_names() {
        let schema = serde_json::to_value(Glass::schema()).expect("plain data is JSON");
        assert_eq!(schema["enum"], serde_json::json!(Glass::NAMES));
    }
}
