//! The two bits of an MLC-mode cell.

use core::fmt;

/// One of the two bits of a cell, and so one of the two pages of the word line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Bit {
    /// Least significant bit.
    Lsb,
    /// Most significant bit.
    Msb,
}

impl Bit {
    /// Both bits, least significant first.
    pub const ALL: [Bit; 2] = [Bit::Lsb, Bit::Msb];

    /// Mask over [`Bits`] and over the field Validity.
    pub(super) const fn mask(self) -> u8 {
        match self {
            Bit::Lsb => 0b01,
            Bit::Msb => 0b10,
        }
    }
}

/// The value of a cell; printed as in the paper, most significant bit first.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Bits(pub(super) u8);

impl Bits {
    /// All four values.
    pub const ALL: [Bits; 4] = [Bits(0b00), Bits(0b01), Bits(0b10), Bits(0b11)];

    /// The value with these two bits.
    pub const fn new(msb: bool, lsb: bool) -> Bits {
        Bits((msb as u8) << 1 | lsb as u8)
    }

    /// One of the two bits.
    pub const fn get(self, bit: Bit) -> bool {
        self.0 & bit.mask() != 0
    }

    /// The value with `bit` replaced.
    pub const fn with(self, bit: Bit, value: bool) -> Bits {
        Bits(if value { self.0 | bit.mask() } else { self.0 & !bit.mask() })
    }
}

impl fmt::Display for Bits {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{:02b}", self.0)
    }
}

impl fmt::Debug for Bits {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, to)
    }
}
