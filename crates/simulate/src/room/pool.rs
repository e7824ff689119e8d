//! Connections that many users share. Each connection carries one call at a time, and users wait in order of arrival.

use std::ops::Deref;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::future::try_join_all;
use reqwest::Method;
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::SimulateError;
use crate::client::{Api, Target};

/// The connections.
#[derive(Debug)]
pub struct Pool {
    free: Mutex<Vec<Api>>,
    permits: Semaphore,
}

/// A connection for one call or a few; it goes back when this goes.
#[derive(Debug)]
pub struct Lease<'p> {
    pool: &'p Pool,
    api: Option<Api>,
    _permit: SemaphorePermit<'p>,
}

impl Pool {
    /// So many, opened at their first calls.
    pub fn new(target: &Target, connections: u32, repeats: &Arc<AtomicU64>) -> Result<Self, SimulateError> {
        let apis = (0..connections).map(|_| Api::new(target, Arc::clone(repeats)));
        Ok(Self {
            free: Mutex::new(apis.collect::<Result<_, _>>()?),
            permits: Semaphore::new(connections as usize),
        })
    }

    /// Opens all, so that later calls have nothing to do but to ask.
    pub async fn open(&self) -> Result<(), SimulateError> {
        let all = self.permits.available_permits();
        let mut leases = Vec::with_capacity(all);
        for _ in 0..all {
            leases.push(self.lease().await);
        }
        let calls = leases.iter().map(|api| async {
            let url = api.url("/healthz");
            api.call(Method::GET, &url, None).await
        });
        try_join_all(calls).await?;
        Ok(())
    }

    /// Waits for a connection that is free.
    pub async fn lease(&self) -> Lease<'_> {
        let permit = self.permits.acquire().await.expect("it is never closed");
        let api = self.free.lock().unwrap_or_else(PoisonError::into_inner).pop();
        Lease {
            pool: self,
            api,
            _permit: permit,
        }
    }
}

impl Deref for Lease<'_> {
    type Target = Api;

    fn deref(&self) -> &Api {
        self.api.as_ref().expect("there are as many connections as permits")
    }
}

impl Drop for Lease<'_> {
    fn drop(&mut self) {
        // Before the permit, which goes with the fields.
        let mut free = self.pool.free.lock().unwrap_or_else(PoisonError::into_inner);
        free.extend(self.api.take());
    }
}
