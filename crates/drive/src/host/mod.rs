//! Towards the host: the PCIe link, submission queues and their arbitration.

pub mod line;
pub mod link;
pub mod queues;
