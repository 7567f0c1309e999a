//! Codings of an MLC-mode word line: its window of four states and the bits that each state encodes.

use super::bits::{Bit, Bits};

/// A threshold-voltage state of a TLC cell: 0 is ER, 1 to 7 are P1 to P7.
pub type State = u8;

/// Number of states of a coding.
pub const STATES: usize = 4;

/// The window of four states after a reprogram: the two-bit Distribution ID.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Distribution {
    /// ID 00: P1 to P4; also the ID of a word line that has not been reprogrammed, whose window is ER to P3.
    P1P4,
    /// ID 01: P2 to P5.
    P2P5,
    /// ID 10: P3 to P6.
    P3P6,
    /// ID 11: P4 to P7.
    P4P7,
}

impl Distribution {
    /// All four, by ID.
    pub const ALL: [Distribution; 4] =
        [Distribution::P1P4, Distribution::P2P5, Distribution::P3P6, Distribution::P4P7];

    /// The two-bit Distribution ID.
    pub const fn id(self) -> u8 {
        self as u8
    }
}

/// The meaning of the states: one coding per distinct pair of RPCnt and Distribution ID.
///
/// Both orders of updating each bit once share a coding, because they result in the same RPCnt and ID.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Coding {
    /// The initial program in MLC mode: RPCnt 00.
    Initial,
    /// After an update of the MSB: RPCnt 01, ID 00.
    Msb,
    /// After an update of the LSB: RPCnt 01, ID 01.
    Lsb,
    /// After two updates of the MSB: RPCnt 10, ID 01.
    MsbMsb,
    /// After one update of each, in either order: RPCnt 10, ID 10.
    Both,
    /// After two updates of the LSB: RPCnt 10, ID 11.
    LsbLsb,
}

impl Coding {
    /// All six.
    pub const ALL: [Coding; 6] =
        [Coding::Initial, Coding::Msb, Coding::Lsb, Coding::MsbMsb, Coding::Both, Coding::LsbLsb];

    /// The coding of a word line; `None` for a pair that no history of updates produces.
    ///
    /// The ID alone is ambiguous: 01 is the window of one LSB update and of two MSB updates, with different meanings.
    pub const fn of(reprograms: u8, distribution: Distribution) -> Option<Coding> {
        match (reprograms, distribution) {
            (0, Distribution::P1P4) => Some(Coding::Initial),
            (1, Distribution::P1P4) => Some(Coding::Msb),
            (1, Distribution::P2P5) => Some(Coding::Lsb),
            (2, Distribution::P2P5) => Some(Coding::MsbMsb),
            (2, Distribution::P3P6) => Some(Coding::Both),
            (2, Distribution::P4P7) => Some(Coding::LsbLsb),
            _ => None,
        }
    }

    /// The lowest of the four states.
    pub const fn lowest(self) -> State {
        match self {
            Coding::Initial => 0,
            Coding::Msb => 1,
            Coding::Lsb | Coding::MsbMsb => 2,
            Coding::Both => 3,
            Coding::LsbLsb => 4,
        }
    }

    /// The bits of the four states, lowest first (Figure 3, completed by the rule that no cell moves down).
    const fn bits(self) -> [Bits; STATES] {
        match self {
            Coding::Initial | Coding::MsbMsb | Coding::LsbLsb => {
                [Bits(0b11), Bits(0b01), Bits(0b00), Bits(0b10)]
            }
            Coding::Msb => [Bits(0b01), Bits(0b11), Bits(0b10), Bits(0b00)],
            Coding::Lsb => [Bits(0b00), Bits(0b10), Bits(0b11), Bits(0b01)],
            Coding::Both => [Bits(0b10), Bits(0b00), Bits(0b01), Bits(0b11)],
        }
    }

    /// The coding after an update of `bit`; `None` after two reprograms.
    pub const fn after(self, bit: Bit) -> Option<Coding> {
        match (self, bit) {
            (Coding::Initial, Bit::Lsb) => Some(Coding::Lsb),
            (Coding::Initial, Bit::Msb) => Some(Coding::Msb),
            (Coding::Lsb, Bit::Lsb) => Some(Coding::LsbLsb),
            (Coding::Msb, Bit::Msb) => Some(Coding::MsbMsb),
            (Coding::Lsb, Bit::Msb) | (Coding::Msb, Bit::Lsb) => Some(Coding::Both),
            (Coding::MsbMsb | Coding::Both | Coding::LsbLsb, _) => None,
        }
    }

    /// RPCnt: reprograms since the erase.
    pub const fn reprograms(self) -> u8 {
        match self {
            Coding::Initial => 0,
            Coding::Msb | Coding::Lsb => 1,
            Coding::MsbMsb | Coding::Both | Coding::LsbLsb => 2,
        }
    }

    /// The window of states, as stored in the metadata.
    pub const fn distribution(self) -> Distribution {
        match self {
            Coding::Initial | Coding::Msb => Distribution::P1P4,
            Coding::Lsb | Coding::MsbMsb => Distribution::P2P5,
            Coding::Both => Distribution::P3P6,
            Coding::LsbLsb => Distribution::P4P7,
        }
    }

    /// The state that encodes `bits`.
    pub fn encode(self, bits: Bits) -> State {
        let place = self.bits().iter().position(|&of| of == bits).expect("a coding has all four values");
        self.lowest() + place as u8
    }

    /// The bits of `state`; `None` outside the window.
    pub fn decode(self, state: State) -> Option<Bits> {
        self.bits().get(usize::from(state.checked_sub(self.lowest())?)).copied()
    }

    /// The sensings of a page: states whose lower edge is a read threshold, lowest first.
    ///
    /// Neighbouring states differ in one bit, so the LSB page takes one sensing and the MSB page two in every coding. Each
    /// edge below a cell inverts the bit of the lowest state.
    pub fn edges(self, bit: Bit) -> impl Iterator<Item = State> {
        let bits = self.bits();
        (1..STATES)
            .filter(move |&k| bits[k].get(bit) != bits[k - 1].get(bit))
            .map(move |k| self.lowest() + k as u8)
    }

    /// The bit of a cell in `state`, inside the window or not, as read by the sensings of [`edges`](Coding::edges).
    pub fn read(self, bit: Bit, state: State) -> bool {
        let passed = self.edges(bit).filter(|&edge| state >= edge).count();
        self.bits()[0].get(bit) ^ (passed % 2 == 1)
    }
}
