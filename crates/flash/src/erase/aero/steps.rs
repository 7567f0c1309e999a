//! Steps that blocks need: the distributions of AERO's block models (facts of the authors' simulator,
//! github.com/allencho1222/MQSim, branch impl_lazy_erase, block_models/aero_*.yaml and aero2_*.yaml).

/// Distribution at one wear: cycles, fewest steps, percent of the blocks that need so many, one more, and so on.
type Row = (u32, u32, &'static [u8]);

/// No block is left less erased than by whole loops.
pub const WITHOUT_MARGIN: [Row; 11] = [
    (0, 4, &[32, 38, 24, 6]),
    (500, 4, &[13, 58, 19, 6, 2, 2]),
    (1000, 4, &[3, 40, 30, 11, 5, 4, 2, 2, 2, 1]),
    (1500, 6, &[8, 30, 22, 16, 7, 5, 3, 2, 2, 2, 3]),
    (2000, 8, &[3, 7, 18, 19, 17, 12, 8, 4, 3, 2, 2, 3, 0, 2]),
    (2500, 10, &[4, 9, 23, 14, 13, 10, 7, 5, 4, 5, 3, 1, 1, 1]),
    (3000, 11, &[2, 7, 18, 16, 13, 9, 9, 5, 4, 3, 2, 3, 2, 2, 2, 2, 1]),
    (3500, 13, &[5, 12, 8, 5, 6, 15, 11, 8, 6, 6, 5, 3, 3, 2, 2, 1, 1, 1]),
    (4000, 15, &[2, 4, 8, 15, 12, 11, 9, 8, 5, 7, 3, 2, 3, 3, 2, 1, 2, 2, 1]),
    (4500, 18, &[2, 5, 5, 8, 8, 9, 6, 5, 4, 4, 8, 8, 8, 9, 5, 2, 2, 2]),
    (5000, 22, &[3, 2, 4, 7, 8, 6, 9, 11, 13, 11, 10, 9, 5, 2]),
];

/// Blocks may be left less erased, within the margin of the error correction.
pub const WITH_MARGIN: [Row; 11] = [
    (0, 3, &[5, 48, 40, 7]),
    (500, 4, &[42, 30, 27, 1]),
    (1000, 4, &[9, 38, 38, 8, 4, 2, 1]),
    (1500, 4, &[2, 23, 28, 25, 13, 5, 2, 2]),
    (2000, 5, &[8, 16, 20, 21, 13, 7, 4, 3, 3, 2, 2, 1]),
    (2500, 7, &[6, 17, 24, 16, 12, 5, 6, 3, 4, 2, 2, 2, 1]),
    (3000, 9, &[12, 13, 15, 12, 10, 7, 6, 5, 5, 4, 3, 3, 2, 1, 1, 1]),
    (3500, 11, &[11, 10, 10, 14, 10, 6, 6, 6, 7, 5, 4, 2, 3, 1, 2, 2, 1]),
    (4000, 14, &[8, 10, 10, 10, 11, 10, 8, 7, 5, 5, 3, 3, 2, 3, 1, 2, 1, 1]),
    (4500, 17, &[8, 6, 8, 10, 11, 10, 6, 6, 4, 5, 5, 5, 6, 3, 2, 2, 2, 1]),
    (5000, 22, &[3, 5, 6, 9, 9, 10, 10, 9, 11, 10, 7, 6, 3, 2]),
];

/// Percent of the blocks of a row that need at most `steps`.
fn at_most(row: Row, steps: u32) -> f64 {
    let (_, fewest, percent) = row;
    percent.iter().zip(fewest..).filter(|&(_, needed)| needed <= steps).map(|(&each, _)| f64::from(each)).sum()
}

/// Steps of the block of rank `rank` (0 to 1) after `cycles` cycles: distributions between rows are interpolated, beyond the last
/// row it applies.
pub fn of_block(table: &[Row; 11], cycles: u32, rank: f64) -> u32 {
    let above = table.iter().position(|&(c, ..)| c >= cycles).unwrap_or(table.len() - 1);
    let (low, high) = (table[above.saturating_sub(1)], table[above]);
    let weight = if high.0 == low.0 { 0.0 } else { f64::from(cycles.min(high.0) - low.0) / f64::from(high.0 - low.0) };
    let most = high.1 + high.2.len() as u32 - 1;
    let below = |steps| (at_most(low, steps) * (1.0 - weight) + at_most(high, steps) * weight) / 100.0;
    (low.1.min(high.1)..most).find(|&steps| rank < below(steps)).unwrap_or(most)
}
