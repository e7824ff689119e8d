//! Redis: connection, keys, script calls.

pub mod calls;
pub mod checks;
pub mod cluster;
pub mod embedded;
pub mod own;
pub mod proxy;
pub mod sources;
pub mod support;
pub mod tls;
