//! Reprogrammable (MLC-mode) word lines: TLC word lines that store two bits per cell and are rewritten without an erase (Gao
//! et al., MICRO 2019, Section 3.2).
//!
//! The first program uses the four lowest states. A page that is out of date can be rewritten, at most twice per word line:
//! the cells move up to a higher window of four states, coded so that no cell moves down. Two numbers per word line decide
//! the meaning of the states: the number of reprograms (RPCnt) and the window (Distribution ID).
//!
//! ```
//! use interpulse_flash::reprogram::{Bit, Bits, Status};
//!
//! // The example of Section 3.2: "00", its LSB becomes 1, then 0 again.
//! let mut status = Status::INITIAL;
//! assert_eq!(status.encode(Bits::new(false, false)), 2);
//! status = status.invalidate(Bit::Lsb).next(Bit::Lsb)?;
//! assert_eq!(status.encode(Bits::new(false, true)), 5);
//! status = status.invalidate(Bit::Lsb).next(Bit::Lsb)?;
//! assert_eq!(status.encode(Bits::new(false, false)), 6);
//! assert_eq!(status.reprograms, 0b10);
//! assert_eq!(status.distribution.id(), 0b11);
//! # Ok::<(), interpulse_flash::reprogram::Refusal>(())
//! ```

mod bits;
mod coding;
mod status;
#[cfg(test)]
mod tests;

pub use bits::{Bit, Bits};
pub use coding::{Coding, Distribution, STATES, State};
pub use status::{MAX_REPROGRAMS, Refusal, Status, Validity};
