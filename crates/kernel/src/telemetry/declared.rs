//! Metrics are declared once: field, type, name and the text that Prometheus shows.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

/// Most jackpots, coupons and rooms with labels of their own. Further ones share the label `other`.
pub(super) const MAX_LABELS: usize = 1_000;

/// Upper bounds of requests per call, up to the combiner's largest.
pub(super) const REQUESTS: [f64; 9] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0];

/// A label with a name that an operator chose.
pub(super) type Named = [(&'static str, String); 1];

/// Labels with values out of closed sets.
pub(super) type Fixed<const N: usize> = [(&'static str, &'static str); N];

/// A struct of metrics that begin at zero: `field: Type = "name", "help";`, with a last value for a type that has no
/// default. They are registered in this order. A field without a name is a struct of metrics itself. Fields after
/// `beside` are no metrics.
macro_rules! metrics {
    (
        $(#[$about:meta])*
        pub struct $name:ident {
            $($(#[$note:meta])* $seen:vis $field:ident: $type:ty $(= $metric:literal, $help:literal $(, $new:expr)?)?;)*
        }
        $(beside { $($(#[$note_beside:meta])* $beside:ident: $type_beside:ty,)* })?
    ) => {
        $(#[$about])*
        pub struct $name {
            $($(#[$note])* $seen $field: $type,)*
            $($($(#[$note_beside])* $beside: $type_beside,)*)?
        }

        impl Default for $name {
            fn default() -> Self {
                Self {
                    $($field: metrics!(@new $($($new)?)?),)*
                    $($($beside: Default::default(),)*)?
                }
            }
        }

        impl $name {
            pub(super) fn register_in(&self, registry: &mut prometheus_client::registry::Registry) {
                $(metrics!(@register registry, self.$field $(, $metric, $help)?);)*
            }
        }
    };
    (@new) => { Default::default() };
    (@new $new:expr) => { $new };
    (@register $registry:ident, $group:expr) => { $group.register_in($registry) };
    (@register $registry:ident, $field:expr, $metric:literal, $help:literal) => {
        $registry.register($metric, $help, $field.clone())
    };
}

pub(super) use metrics;

/// The counters of each jackpot, coupon or room, looked up once and then without a lock.
pub(super) struct OfEach<T>(RwLock<HashMap<String, Arc<T>>>);

impl<T> Default for OfEach<T> {
    fn default() -> Self {
        Self(RwLock::default())
    }
}

impl<T> OfEach<T> {
    /// The counters of a subject, made with its label when they are asked for first.
    pub(super) fn get(&self, id: &str, make: impl FnOnce(&str) -> T) -> Arc<T> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = known.get(id) {
            return Arc::clone(known);
        }
        drop(known);
        let mut all = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let label = capped(id, &all);
        Arc::clone(all.entry(label.to_owned()).or_insert_with(|| Arc::new(make(label))))
    }

    /// The label of a subject.
    pub(super) fn label(&self, id: &str) -> String {
        capped(id, &self.0.read().unwrap_or_else(PoisonError::into_inner)).to_owned()
    }
}

/// The label of a new name.
fn capped<'a, T>(id: &'a str, known: &HashMap<String, T>) -> &'a str {
    if known.contains_key(id) || known.len() < MAX_LABELS {
        id
    } else {
        "other"
    }
}
