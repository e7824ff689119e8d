//! Intake: takes entries and issues of coupons from a topic of a broker, with exactly the meaning that they have over HTTP.
//!
//! A topic has lanes, which keep order: the partitions of Kafka, one for a subject of NATS. One instance at a time takes the
//! messages of a lane, by a lease in SQL (`positions`). Each message runs through the handlers of the API in this process
//! (`call`). Messages of one key do so one after the other, others at the same time (`lane`). The position moves, in SQL,
//! when an effect is durable and its answer or dead letter is on the broker's disk. So a kill repeats the last messages, which
//! their ids make harmless. docs/decisions/0060 gives the reasons.

mod call;
mod lane;
mod letter;
mod message;
mod order;
mod positions;
pub mod worker;
