//! Host interface: submission queues and arbitration, link, firmware, commands in flight.

pub mod delays;
pub mod egress_queue;
pub mod fifo;
mod firmware;
mod interface;
pub mod link;
pub mod queue_classes;
pub mod queues;
pub mod request;
pub mod splitter;
mod splitting;
mod waiting_line;

pub use interface::HostInterface;
