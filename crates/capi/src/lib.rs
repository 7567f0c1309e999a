//! libinterpulse: the C interface of an embedded drive or array (docs/EMBEDDING.md).
//!
//! Every function checks its pointers and returns a code; no panic leaves the library. `include/interpulse.h` is generated from
//! this crate, and a test compares both. Layouts and symbols are listed in `abi.txt`.
#![allow(non_camel_case_types, reason = "the names are those of C")]

mod calls;
mod codes;
mod handle;
mod structs;
mod text;

pub use calls::*;
pub use codes::*;
pub use handle::interpulse_device;
pub use structs::*;
