//! Program orders of word lines: conventional, and reprogrammed in super layers (Gao et al., MICRO 2019, Section 3.3).

use interpulse_engine::random::Streams;

/// A program of a word line. Layers count from the lowest of the slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Layer.
    pub layer: u32,
    /// Word line in the layer.
    pub word_line: u32,
    /// Distance of the programmed states to the final states.
    pub below: u8,
    /// The topmost layer with programmed cells.
    pub top: u32,
}

/// Most reprograms of a word line by one state each: from ER-P3 to P4-P7.
pub const MAX_STEPS: u8 = 4;

/// The conventional order: layer by layer from the source line up, each word line once.
pub fn conventional(layers: u32, word_lines: u32) -> Vec<Step> {
    let of_layer =
        |layer| (0..word_lines).map(move |word_line| Step { layer, word_line, below: 0, top: layer });
    (0..layers).flat_map(of_layer).collect()
}

/// Super layers of `height` layers in sequence. In each, all word lines are first programmed in MLC mode in sequence; then, in
/// random order, each is reprogrammed `reprograms` times by one state. `first` is the first layer of the slice, which selects
/// the random stream.
pub fn reprogrammed(
    layers: u32,
    word_lines: u32,
    height: u32,
    reprograms: u8,
    seed: u64,
    first: u32,
) -> Vec<Step> {
    let mut steps = Vec::new();
    for bottom in (0..layers).step_by(height as usize) {
        let top = (bottom + height).min(layers) - 1;
        let mut rng = Streams::new(seed).stream("reprogram-order", u64::from(first + bottom));
        let mut open: Vec<(u32, u32)> =
            (bottom..=top).flat_map(|layer| (0..word_lines).map(move |w| (layer, w))).collect();
        let initial =
            |&(layer, word_line): &(u32, u32)| Step { layer, word_line, below: reprograms, top: layer };
        steps.extend(open.iter().map(initial));
        while !open.is_empty() {
            let (layer, word_line) = open.swap_remove(rng.below(open.len() as u64) as usize);
            steps.extend((0..reprograms).rev().map(|below| Step { layer, word_line, below, top }));
        }
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_line_goes_from_mlc_mode_to_the_top_in_four_steps() {
        let steps = reprogrammed(7, 3, 2, MAX_STEPS, 5, 0);
        for layer in 0..7 {
            for word_line in 0..3 {
                let mine = steps.iter().filter(|s| (s.layer, s.word_line) == (layer, word_line));
                assert_eq!(mine.map(|s| s.below).collect::<Vec<_>>(), [4, 3, 2, 1, 0]);
            }
        }
        assert_eq!(steps.len(), 7 * 3 * 5);
    }

    #[test]
    fn fewer_steps_end_lower_in_the_same_order() {
        let (two, four) = (reprogrammed(6, 4, 2, 2, 5, 0), reprogrammed(6, 4, 2, 4, 5, 0));
        let ends = |steps: &[Step]| -> Vec<(u32, u32)> {
            steps.iter().filter(|s| s.below == 0).map(|s| (s.layer, s.word_line)).collect()
        };
        assert_eq!(ends(&two), ends(&four));
        assert_eq!(two.len(), 6 * 4 * 3);
        assert!(two.iter().all(|s| s.below <= 2));
        assert_eq!(reprogrammed(6, 4, 2, 0, 5, 0), conventional(6, 4));
    }

    #[test]
    fn super_layers_are_in_sequence_and_their_word_lines_in_random_order() {
        let steps = reprogrammed(64, 4, 2, MAX_STEPS, 5, 0);
        assert!(steps.is_sorted_by_key(|s| s.layer / 2));
        assert!(steps.iter().all(|s| s.top / 2 == s.layer / 2 && s.top >= s.layer));
        let ended: Vec<u32> = steps.iter().filter(|s| s.below == 0).map(|s| s.layer).collect();
        assert!(!ended.is_sorted(), "some upper layer is done before a lower one");
        assert_ne!(steps, reprogrammed(64, 4, 2, MAX_STEPS, 6, 0));
        // In super layers of one layer nothing above is programmed.
        assert!(reprogrammed(64, 4, 1, MAX_STEPS, 5, 0).iter().all(|s| s.top == s.layer));
    }

    #[test]
    fn a_part_of_a_block_has_the_order_of_the_whole() {
        let whole = reprogrammed(64, 4, 3, MAX_STEPS, 9, 0);
        let part = reprogrammed(6, 4, 3, MAX_STEPS, 9, 12);
        let shifted: Vec<Step> =
            part.into_iter().map(|s| Step { layer: s.layer + 12, top: s.top + 12, ..s }).collect();
        let same: Vec<Step> = whole.into_iter().filter(|s| (12..18).contains(&s.layer)).collect();
        assert_eq!(shifted, same);
    }

    #[test]
    fn the_conventional_order_goes_up() {
        let steps = conventional(3, 2);
        let places: Vec<(u32, u32, u8)> = steps.iter().map(|s| (s.layer, s.word_line, s.below)).collect();
        assert_eq!(places, [(0, 0, 0), (0, 1, 0), (1, 0, 0), (1, 1, 0), (2, 0, 0), (2, 1, 0)]);
    }
}
