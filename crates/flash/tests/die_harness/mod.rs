//! Is the mechanism right? One channel of dies against instants derived by hand, exact to the nanosecond: how
//! long reads, programs and erases take, where they stop and go on, who goes first, who waits for the bus, and
//! whether the accounts of waiting add up.

mod account;
mod arrivals;
mod buffers;
mod cache_program;
mod cache_read;
mod channel;
mod foresight;
mod holding;
mod observing;
mod order;
mod phases;
mod power;
mod preempting;
mod programs;
mod reads;
mod retry;
mod saving;
mod second_read;
mod suspension;
