//! All tests of the crate in one program: each file would be compiled and linked with everything below it otherwise.

mod array_common;
mod arrays;
mod coordination;
mod losses;
mod mirrors;
mod power_loss;
mod raid6;
mod randomised_arrays;
mod write_costs;
