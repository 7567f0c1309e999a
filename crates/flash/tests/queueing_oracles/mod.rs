//! Queueing tests: one die under Poisson reads and programs against closed forms. Each value is a mean over independent seeds;
//! all comparisons of this program together fail with a probability below 1e-6 if the formulas hold.

mod cache_program;
mod costs;
mod disciplines;
mod repeat;
mod station;
