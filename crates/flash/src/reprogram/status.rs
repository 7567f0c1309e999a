//! Status of an MLC-mode word line, and the legality of its reprograms.

use super::bits::{Bit, Bits};
use super::coding::{Coding, Distribution, State};

/// Most reprograms between two erases (RPCnt 10).
pub const MAX_REPROGRAMS: u8 = 2;

/// Pages with valid data: a two-bit field, MSB first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Validity(u8);

impl Validity {
    /// Both pages are valid: 11, as after the initial program.
    pub const BOTH: Validity = Validity(0b11);

    /// Whether the page of `bit` is valid.
    pub const fn of(self, bit: Bit) -> bool {
        self.0 & bit.mask() != 0
    }

    /// The two-bit field.
    pub const fn field(self) -> u8 {
        self.0
    }
}

/// The six-bit cell status of Section 3.2, kept per word line: RPCnt, Distribution ID and Validity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Status {
    /// RPCnt: reprograms since the initial program, 0 to 2.
    pub reprograms: u8,
    /// The window of states; ER to P3 while `reprograms` is 0.
    pub distribution: Distribution,
    /// The valid pages.
    pub validity: Validity,
}

/// Reason to reject a reprogram.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The page is still valid.
    #[error("the {} page of the word line is still in use", if *.0 == Bit::Lsb { "LSB" } else { "MSB" })]
    BitInUse(Bit),
    /// The word line has been reprogrammed twice since its erase.
    #[error("the word line has been reprogrammed {MAX_REPROGRAMS} times since its erase")]
    Exhausted,
}

impl Status {
    /// After the initial program: RPCnt 00, ID 00, Validity 11.
    pub const INITIAL: Status =
        Status { reprograms: 0, distribution: Distribution::P1P4, validity: Validity::BOTH };

    /// The coding of the cells. Panics on a corrupt RPCnt or ID.
    pub fn coding(self) -> Coding {
        Coding::of(self.reprograms, self.distribution).expect("RPCnt and ID of one history")
    }

    /// The status after the page of `bit` is invalidated.
    #[must_use]
    pub const fn invalidate(self, bit: Bit) -> Status {
        Status { validity: Validity(self.validity.0 & !bit.mask()), ..self }
    }

    /// The status after a reprogram of `bit`.
    ///
    /// The cells keep the values of the other page, which stays invalid if it is invalid.
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

    /// The status with the Validity of the controller.
    #[must_use]
    pub const fn with_validity(self, field: u8) -> Status {
        Status { validity: Validity(field & Validity::BOTH.0), ..self }
    }

    /// The state that encodes `bits`.
    pub fn encode(self, bits: Bits) -> State {
        self.coding().encode(bits)
    }

    /// The bits of `state`; `None` outside the window.
    pub fn decode(self, state: State) -> Option<Bits> {
        self.coding().decode(state)
    }
}
