//! Mechanism tests: one channel of dies against instants derived by hand, exact to the nanosecond.

mod account;
mod array_queries;
mod arrivals;
mod buffers;
mod cache_program;
mod cache_read;
mod channel;
mod commands;
mod copyback;
mod five_bits;
mod holding;
mod joined_programs;
mod observing;
mod order;
mod phases;
mod plane_reads;
mod power;
mod preempting;
mod programs;
mod reads;
mod retry;
mod saving;
mod second_read;
mod separate_commands;
mod sub_blocks;
mod suspension;
