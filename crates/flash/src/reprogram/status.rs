//! The status of a word line, and which reprogram is legal.

use super::bits::{Bit, Bits};
use super::coding::{Coding, Distribution, State};

/// Reprograms between two erases: RPCnt 10 refuses more.
pub const MAX_REPROGRAMS: u8 = 2;

/// Which of the two pages still hold data that is in use: a two-bit field, MSB first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Validity(u8);

impl Validity {
    /// Both pages are in use: 11, as after the initial program.
    pub const BOTH: Validity = Validity(0b11);

    /// Whether the page of `bit` is in use.
    pub const fn of(self, bit: Bit) -> bool {
        self.0 & bit.mask() != 0
    }

    /// The two-bit field.
    pub const fn field(self) -> u8 {
        self.0
    }
}

/// What an operation does to a word line that is programmed as two bits per cell (Gao et al., MICRO 2019).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum TwoBit {
    /// It programs both pages of the erased word line, or reads one.
    Whole = 1,
    /// It reprograms the LSB page.
    Lsb,
    /// It reprograms the MSB page.
    Msb,
}

impl TwoBit {
    /// The reprogram that gives the page of `bit` new data.
    pub const fn reprogram(bit: Bit) -> TwoBit {
        match bit {
            Bit::Lsb => TwoBit::Lsb,
            Bit::Msb => TwoBit::Msb,
        }
    }

    /// The page that it gives new data, if it is a reprogram.
    pub const fn bit(self) -> Option<Bit> {
        match self {
            TwoBit::Whole => None,
            TwoBit::Lsb => Some(Bit::Lsb),
            TwoBit::Msb => Some(Bit::Msb),
        }
    }
}

/// The cell status of Section 3.2, kept per word line because its cells are programmed together: RPCnt, Distribution ID
/// and Validity, six bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Status {
    /// RPCnt: reprograms since the initial program, 0 to 2.
    pub reprograms: u8,
    /// The window the cells stand on; means ER to P3 while `reprograms` is 0.
    pub distribution: Distribution,
    /// The pages in use.
    pub validity: Validity,
}

/// Why a word line is not reprogrammed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The bit still holds data in use.
    #[error("the {} page of the word line is still in use", if *.0 == Bit::Lsb { "LSB" } else { "MSB" })]
    BitInUse(Bit),
    /// It has been reprogrammed twice since its erase.
    #[error("the word line has been reprogrammed {MAX_REPROGRAMS} times since its erase")]
    Exhausted,
}

impl Status {
    /// After the initial program: RPCnt 00, ID 00, Validity 11.
    pub const INITIAL: Status =
        Status { reprograms: 0, distribution: Distribution::P1P4, validity: Validity::BOTH };

    /// The coding the cells are read with.
    ///
    /// Panics on a status that no history leaves behind (a corrupt RPCnt or ID).
    pub fn coding(self) -> Coding {
        Coding::of(self.reprograms, self.distribution).expect("RPCnt and ID of one history")
    }

    /// The status once the page of `bit` is out of date.
    #[must_use]
    pub const fn invalidate(self, bit: Bit) -> Status {
        Status { validity: Validity(self.validity.0 & !bit.mask()), ..self }
    }

    /// The status after a reprogram that gives `bit` new values, or why there is none.
    ///
    /// If both pages are out of date, the other one is taken as valid: its old values are kept in the cells, and Validity
    /// goes on saying that nobody needs them.
    pub fn next(self, bit: Bit) -> Result<Status, Refusal> {
        let coding = self.coding().after(bit).ok_or(Refusal::Exhausted)?;
        if self.validity.of(bit) {
            return Err(Refusal::BitInUse(bit));
        }
        Ok(Status {
            reprograms: coding.reprograms(),
            distribution: coding.distribution(),
            validity: Validity(self.validity.0 | bit.mask()),
        })
    }

    /// The status with Validity as the controller knows it.
    #[must_use]
    pub const fn with_validity(self, field: u8) -> Status {
        Status { validity: Validity(field & Validity::BOTH.0), ..self }
    }

    /// The state that means `bits`.
    pub fn encode(self, bits: Bits) -> State {
        self.coding().encode(bits)
    }

    /// What `state` means; `None` outside the window.
    pub fn decode(self, state: State) -> Option<Bits> {
        self.coding().decode(state)
    }
}
