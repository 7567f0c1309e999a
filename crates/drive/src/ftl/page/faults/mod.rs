//! Injected faults: programs and erases that fail, data that nothing corrects, dies that fail.

mod dead_dies;
pub(crate) mod injected;
mod injection;
pub(crate) mod lost_data;
