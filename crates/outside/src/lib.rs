//! The service and other systems: events go out to webhooks and brokers, entries and issues come in from a topic.

pub mod broker;
pub mod events;
pub mod intake;
