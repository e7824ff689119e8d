//! Redis' record of an adjustment. Pure.

use crate::words;

words! {
    /// An adjustment that was made, in the hash `adjustments` by its id.
    pub struct AdjustmentRecord as "adjustment" by ' ' {
        /// Digest of its content, by which the service knows a repeat.
        pub digest: String,
        /// When it was made, ms of Redis' clock.
        pub at_ms: i64,
    }
}
