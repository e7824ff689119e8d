//! Connections to the Redis of the private service, and the keys of the usual ways in it.

use std::path::PathBuf;
use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Client};

use super::super::SimulateError;
use super::super::service::PrivateService;

/// Long, because the rate counts: a slow call must not be cut short.
const PATIENCE: Duration = Duration::from_mins(1);

/// Where the private service keeps its Redis.
#[derive(Debug, Clone)]
pub struct Redis {
    socket: PathBuf,
}

impl Redis {
    pub fn of(service: &PrivateService) -> Self {
        Self {
            socket: service.redis_socket(),
        }
    }

    pub async fn connect(&self) -> Result<MultiplexedConnection, SimulateError> {
        let client = Client::open(format!("redis+unix://{}", self.socket.display()))?;
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(PATIENCE))
            .set_response_timeout(Some(PATIENCE));
        Ok(client.get_multiplexed_async_connection_with_config(&config).await?)
    }
}

/// A key that no part of the service uses.
pub fn key(way: impl std::fmt::Debug, name: &str) -> String {
    format!("compare:{way:?}:{name}")
}
