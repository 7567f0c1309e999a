//! The eight states of a TLC cell, the bits they stand for, and what the reads of a page tell apart.

use serde::{Deserialize, Serialize};

/// Number of states, ER to P7.
pub const STATES: usize = 8;
/// Number of boundaries between them.
pub const BOUNDARIES: usize = STATES - 1;

/// The pages of a TLC word line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PageType {
    /// The least significant bit.
    Lower,
    /// The central bit.
    Center,
    /// The most significant bit.
    Upper,
}

impl PageType {
    /// Name and value of each, least significant first.
    pub const ALL: [(&'static str, PageType); 3] =
        [("lower", PageType::Lower), ("center", PageType::Center), ("upper", PageType::Upper)];
}

/// Bits of the states from ER to P7, the least significant one being that of the lower page: a Gray code that reads the
/// lower page with one sensing, the center page with two and the upper page with four (Cai et al., Proc. IEEE 2017, Figure 8).
pub const GRAY: [u8; STATES] = [0b111, 0b011, 0b001, 0b101, 0b100, 0b000, 0b010, 0b110];

/// The bit of a page in a state.
pub const fn bit(page: PageType, state: u8) -> u8 {
    GRAY[state as usize] >> page as u8 & 1
}

/// The boundaries that a read of the page senses; boundary k lies between the states k and k + 1.
pub fn boundaries(page: PageType) -> impl Iterator<Item = usize> {
    (0..BOUNDARIES).filter(move |&k| bit(page, k as u8) != bit(page, k as u8 + 1))
}

/// The state that stands for three bits.
pub fn state_of(bits: u8) -> u8 {
    GRAY.iter().position(|&code| code == bits & 7).expect("a Gray code has every value") as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_differ_in_one_bit_and_every_value_has_a_state() {
        for pair in GRAY.windows(2) {
            assert_eq!((pair[0] ^ pair[1]).count_ones(), 1);
        }
        for bits in 0..8 {
            assert_eq!(GRAY[state_of(bits) as usize], bits);
        }
    }

    #[test]
    fn pages_take_one_two_and_four_sensings() {
        let sensed = PageType::ALL.map(|(_, page)| boundaries(page).collect::<Vec<_>>());
        assert_eq!(sensed, [vec![3], vec![1, 5], vec![0, 2, 4, 6]]);
    }
}
