//! States of a TLC cell, their Gray code, and the boundaries that each page senses.

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

/// Bits of the states from ER to P7, bit 0 for the lower page: a Gray code with one sensing of the lower page, two of the
/// center page and four of the upper page (Cai et al., Proc. IEEE 2017, Figure 8).
pub const GRAY: [u8; STATES] = [0b111, 0b011, 0b001, 0b101, 0b100, 0b000, 0b010, 0b110];

/// The bit of a page in a state.
pub const fn bit(page: PageType, state: u8) -> u8 {
    GRAY[state as usize] >> page as u8 & 1
}

/// The boundaries sensed by a read of the page; boundary k lies between states k and k + 1.
pub fn boundaries(page: PageType) -> impl Iterator<Item = usize> {
    (0..BOUNDARIES).filter(move |&k| bit(page, k as u8) != bit(page, k as u8 + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_differ_in_one_bit_and_every_value_has_a_state() {
        for pair in GRAY.windows(2) {
            assert_eq!((pair[0] ^ pair[1]).count_ones(), 1);
        }
        assert!((0..8).all(|bits| GRAY.contains(&bits)));
    }

    #[test]
    fn pages_take_one_two_and_four_sensings() {
        let sensed = PageType::ALL.map(|(_, page)| boundaries(page).collect::<Vec<_>>());
        assert_eq!(sensed, [vec![3], vec![1, 5], vec![0, 2, 4, 6]]);
    }
}
