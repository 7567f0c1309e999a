//! Log blocks.
