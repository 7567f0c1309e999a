//! Conformance tests over the registry of suspension schemes, from outside: by the times of start, halt, resume and end of
//! operations and by counters. Schemes state only whether they repeat work and where they stop.

mod bound;
mod cached;
mod eligibility;
mod limits;
mod starvation;
mod watch;
mod work;
