//! Replay of recorded block traces.
//!
//! A trace is streamed twice. The first pass (`scan`) checks every row and determines extents and totals, so that
//! faults are reported before simulated time starts; the second pass (`replay`) returns the rows through a small
//! read-ahead buffer. Memory does not grow with the length of the trace.
//!
//! Text formats share these rules: lines end in LF or CRLF (optional on the last line); blank lines, lines that start
//! with `#`, `;` or `//`, and headings (lines before the first row without a number) are skipped; a UTF-8 byte order
//! mark at the start and additional columns are ignored. The first bytes of a file, not its name, identify plain,
//! gzip and zstd files. `detect` determines format and time unit.

mod address_units;
mod columns;
mod detect;
mod device;
mod fio_clock;
pub mod format;
mod heading;
pub(crate) mod input;
pub(crate) mod layout;
mod layout_inference;
pub(crate) mod limits;
mod lines;
mod number;
pub mod packing;
pub mod position;
pub mod problem;
pub(crate) mod replay;
pub mod role;
pub(crate) mod row;
pub(crate) mod scan;
mod selection;
mod separator;
mod signatures;
pub mod spec;
pub mod statistics;
mod stream;
pub mod summary;
mod time_unit_inference;
pub mod tools;
pub mod unit;
