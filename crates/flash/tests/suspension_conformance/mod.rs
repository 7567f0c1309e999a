//! Does every registered suspension scheme keep what all of them promise? Each test runs over the registry, so that
//! a new scheme is tested by existing. Everything is measured from outside: by the instants at which operations
//! begin, halt, go on and end, and by what has been counted; a scheme is only asked what it promises (whether it repeats
//! work, where it goes on).

mod bound;
mod cached;
mod eligibility;
mod limits;
mod starvation;
mod watch;
mod work;
