//! Towards the host: submission queues and their arbitration, the link, firmware, and the commands on their way.

pub mod egress_queue;
pub mod fifo;
mod firmware;
mod interface;
pub mod link;
pub mod queues;
pub mod request;

pub use interface::Front;
