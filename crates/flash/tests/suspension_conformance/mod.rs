//! Does every registered suspension scheme keep what all of them promise? Each test runs over the registry, so that
//! a new scheme is tested by existing. Everything is measured from outside: by the instants at which operations
//! begin, halt, go on and end, and by what has been counted; no policy is asked.

mod bound;
mod cached;
mod eligibility;
mod limits;
mod starvation;
mod watch;
mod work;
