//! Whether a coupon issues units.

jackpot_core::names! {
    /// Whether a coupon issues units.
    pub enum Status as "`open`, `paused`, `closed`, `suspended` or `ended`" {
        /// Within its window of time.
        Open = "open",
        /// Held by an operator: it takes no requests, and those in the queue wait.
        Paused = "paused",
        /// Ended by an operator for good: it takes no requests, and refuses those in the queue.
        Closed = "closed",
        /// Stopped by the service, because its books do not agree.
        Suspended = "suspended",
        /// Over for good: its records were dropped one retention after its end.
        Ended = "ended",
    }
}
