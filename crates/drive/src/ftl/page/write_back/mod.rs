//! Write-back: queues of dirty units, programs in flight, flushes and trims.

mod destage;
pub(crate) mod in_flight;
pub mod queues;
pub(crate) mod super_word_line;
