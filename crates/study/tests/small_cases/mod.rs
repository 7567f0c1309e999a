//! Do the parts of a drive agree with models that share no code with them, on random small cases? The order
//! of programs, the write cache, the choice of victims, and whether the version audit finds every kind of lie.

mod cache;
mod layout;
mod versions;
mod victims;
