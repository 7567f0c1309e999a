//! Synthetic write amplification: extra programs and erases at a stated ratio, without victims.

pub(crate) mod budget;
mod programs;
