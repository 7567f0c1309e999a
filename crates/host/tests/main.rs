//! Test program of the crate: one binary, because each further one compiles and links everything below it again.

mod stepping;
mod traces;
