//! Events out: every event of the ledger, to the systems that subscribe to it. The table `events` is the outbox; what its
//! rows tell is said by each kind (`jackpot_kernel::ledger::outgoing`). docs/decisions/0057 has the states and failures.
//!
//! | file | what |
//! | --- | --- |
//! | [`subscription`] | a definition: where events go, which types, which subjects. Pure |
//! | [`cloudevent`] | the envelope of what is sent. Pure |
//! | [`target`] | a target: webhook, topic of Kafka, subject of NATS. Pure |
//! | [`address`] | which addresses a webhook may have. Pure |
//! | [`key`] | the key that signs what a subscription gets |
//! | [`store`] | subscriptions and their cursors in SQL |
//! | [`reading`] | the next events of a subject, and how many there are |
//! | `reached` | waits until the cursor of a subject has what its target has just answered |
//! | [`sink`] | sends one event: the trait, and the topics of brokers |
//! | [`webhook`] | sends one event to a URL |
//! | `bounded` | the connections to URLs, each answer of which has an end |
//! | `place`, `cursors` | how far a subject is, and the one writer of cursors |
//! | `stream` | delivers one subject to one subscription, in order |
//! | [`deliverer`] | takes leases, starts streams, follows changes |
//! | [`api`] | the routes |

pub mod address;
pub mod api;
mod bounded;
pub mod cloudevent;
mod cursors;
pub mod deliverer;
pub mod key;
mod place;
mod problem;
mod reached;
pub mod reading;
pub mod sink;
pub mod store;
mod stream;
pub mod subscription;
pub mod target;
pub mod webhook;
