//! The jackpot room.
