//! Reprogramming: a TLC word line as two bits per cell that are written again without an erase (Gao et al., MICRO 2019,
//! Section 3.2).
//!
//! A word line is first programmed in MLC mode on its four lowest states. Whenever one of the two bits is out of date it
//! may be written anew, twice at most: the cells move up to a higher window of four states that is coded so that no cell
//! has to move down. What the cells mean then follows from two numbers kept per word line: how often it has been
//! reprogrammed (RPCnt) and which window it stands on (Distribution ID).
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
pub use status::{MAX_REPROGRAMS, Refusal, Status, TwoBit, Validity};
