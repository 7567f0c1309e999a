//! Replay of recorded block traces.
//!
//! A trace is read twice, always as a stream: the first pass (`scan`) checks every row and finds extents
//! and totals, so that every fault shows before simulated time starts; the second (`replay`) hands the
//! rows out through a small read-ahead buffer. Memory does not grow with the length of the trace.
//!
//! Rows common to all formats of text: lines end in LF or CRLF, the last may lack its end; blank lines, lines that start
//! with `#`, `;` or `//`, and headings (lines before the first row in which no word is a number) are skipped; a UTF-8 byte
//! order mark at the very start is ignored; columns beyond those of the format do not matter. Plain, gzip and zstd files
//! are told apart by their first bytes, never by their name.
//!
//! `tell` says which format a file has and in which unit it counts time.

mod columns;
mod device;
pub mod format;
pub(crate) mod input;
pub(crate) mod layout;
pub(crate) mod limits;
mod lines;
mod magic;
mod number;
pub mod pack;
pub(crate) mod packing;
pub mod place;
mod plausible;
pub mod problem;
pub(crate) mod replay;
pub(crate) mod row;
pub(crate) mod scan;
pub mod spec;
pub mod statistics;
mod stream;
pub mod summary;
mod tell;
pub mod unit;
