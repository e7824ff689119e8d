//! Whether a coupon issues units.

crate::status! {
    /// Whether a coupon issues units.
    pub enum Status as "`open`, `suspended` or `ended`" {
        /// Within its window of time.
        Open = "open",
        /// Stopped by the service, because its books do not agree.
        Suspended = "suspended",
        /// Over for good: its records were dropped one retention after its end.
        Ended = "ended",
    }
}
