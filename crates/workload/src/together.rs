//! How many requests are told of together.

/// Requests that are told of together, so that who is told waits for memory once, not for each.
pub(crate) const TOGETHER: usize = 8;
