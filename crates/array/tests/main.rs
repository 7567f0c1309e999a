//! All integration tests of the crate in one binary, which saves linking each file separately.

mod array_common;
mod arrays;
mod coordination;
mod drive_failures;
mod fail_fast;
mod hedged_reads;
mod mirrors;
mod power_loss;
mod raid6;
mod randomised_arrays;
mod write_costs;
