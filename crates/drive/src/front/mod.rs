//! Towards the host: submission queues and their arbitration, the link, firmware, and the commands on their way.

mod controller;
mod firmware;
pub mod leaving;
pub mod line;
pub mod link;
pub mod queues;
pub mod request;

pub use controller::Front;
