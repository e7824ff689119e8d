//! Queries of operators and auditors to the ledger, on both databases, over rows that the tests wrote.

mod bound;
mod codes;
mod coupons;
mod daily;
mod export;
pub mod fixture;
mod lists;
mod pages;
mod plans;
mod rooms;
