//! In which order word lines are programmed and reprogrammed.

use interpulse_engine::random::Streams;

/// One program of one word line. Layers count from the lowest of the part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Layer.
    pub layer: u32,
    /// Word line in the layer.
    pub word_line: u32,
    /// How many states below the final ones the program ends.
    pub below: u8,
    /// The topmost layer with programmed cells.
    pub top: u32,
}

/// Reprograms of each word line: from ER-P3 to P4-P7 one state at a time.
pub const REPROGRAMS: u8 = 4;

/// The conventional order: layer by layer from the source line up, word line by word line, each once.
pub fn conventional(layers: u32, word_lines: u32) -> Vec<Step> {
    (0..layers)
        .flat_map(|layer| (0..word_lines).map(move |word_line| Step { layer, word_line, below: 0, top: layer }))
        .collect()
}

/// Super layers of `height` layers in sequence. In each, all word lines are programmed in MLC mode in sequence; then word
/// lines are picked at random and reprogrammed by one state until all stand on P4 to P7.
pub fn reprogrammed(layers: u32, word_lines: u32, height: u32, seed: u64, first: u32, whole: bool) -> Vec<Step> {
    let mut steps = Vec::new();
    for bottom in (0..layers).step_by(height as usize) {
        let top = (bottom + height).min(layers) - 1;
        let mut rng = Streams::new(seed).stream("reprogram-order", u64::from(first + bottom));
        for layer in bottom..=top {
            steps.extend((0..word_lines).map(|word_line| Step { layer, word_line, below: REPROGRAMS, top: layer }));
        }
        let mut open: Vec<(u32, u32, u8)> =
            (bottom..=top).flat_map(|layer| (0..word_lines).map(move |w| (layer, w, REPROGRAMS))).collect();
        while !open.is_empty() {
            let pick = rng.below(open.len() as u64) as usize;
            if whole {
                let (layer, word_line, _) = open.swap_remove(pick);
                for b in (0..REPROGRAMS).rev() {
                    steps.push(Step { layer, word_line, below: b, top });
                }
                continue;
            }
            open[pick].2 -= 1;
            let (layer, word_line, below) = open[pick];
            steps.push(Step { layer, word_line, below, top });
            if below == 0 {
                open.swap_remove(pick);
            }
        }
    }
    steps
}
