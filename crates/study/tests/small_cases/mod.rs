//! Drive components against independent models on random small cases: layout, write cache, victim selection, version
//! audit.

mod cache;
mod layout;
mod versions;
mod victims;
