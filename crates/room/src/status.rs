//! Whether a room takes visitors.

jackpot_core::names! {
    /// Whether a room takes visitors.
    pub enum Status as "`open` or `suspended`" {
        /// It takes them.
        Open = "open",
        /// Stopped by the service, because Redis and the ledger do not agree: nobody joins or is admitted.
        Suspended = "suspended",
    }
}
