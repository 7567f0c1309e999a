//! Slice of a block: some layers, programmed step by step and read.

use super::chip::Chip;
use super::program_order::Step;
use crate::cells::{Cells, subkey};
use crate::interference::disturb;
use crate::kernel::hash;
use crate::normal::Normal;
use crate::program::Program;
use interpulse_engine::random::mix;
use std::ops::Range;

/// Purposes of random keys.
mod purpose {
    pub const WORD_LINE: u64 = 0x2000;
    pub const COUPLING: u64 = 0x2001;
    pub const STRING: u64 = 0x2002;
    pub const SENSING: u64 = 0x2003;
    pub const SLOW: u64 = 0x2004;
    pub const RETENTION: u64 = 0x2005;
}

/// Word lines of some layers, and of the adjacent layers below and above, which serve as neighbours only.
pub struct BlockSlice<'a> {
    chip: &'a Chip,
    seed: u64,
    /// First layer of the slice.
    first: u32,
    /// Layers without the two neighbour layers.
    layers: u32,
    /// Word lines by layer, from the neighbour below.
    lines: Vec<Line>,
    /// Resistance above each cell of the current word line.
    strings: Vec<f32>,
    /// Pulses and number of first programs and of reprograms, without the neighbour layers.
    pub pulses: [(u64, u64); 2],
}

struct Line {
    cells: Cells,
    /// Final state of each cell.
    data: Vec<u8>,
}

/// A sensed word line.
pub struct SensedLine<'a> {
    /// Layer of the block.
    pub layer: u32,
    /// Word line of the layer.
    pub word_line: u32,
    /// Sensed threshold voltage of each cell relative to the default read levels, in steps.
    pub vth: &'a [f32],
    /// Programmed state of each cell.
    pub data: &'a [u8],
}

impl<'a> BlockSlice<'a> {
    /// Erased word lines of `count` cells, with random final states from `states`.
    pub fn erased(
        chip: &'a Chip,
        seed: u64,
        from: Range<u32>,
        count: usize,
        states: Range<u8>,
    ) -> BlockSlice<'a> {
        let layers = from.end - from.start;
        let place = |above| (0..chip.word_lines).map(move |w| (from.start + above, w));
        let lines = (0..layers + 2).flat_map(place).map(|(layer, w)| {
            let address = u64::from(layer) << 16 | u64::from(w);
            let key = mix(seed ^ mix(purpose::WORD_LINE ^ mix(address)));
            let mut cells = Cells::erased(&chip.cells, count, key, 0);
            let slow = subkey(key, purpose::SLOW);
            for (cell, speed) in cells.speed.iter_mut().enumerate() {
                let is_slow = hash(slow, cell as u32) as f32 <= chip.slow_share * u32::MAX as f32;
                *speed -= if is_slow { chip.slow_by } else { 0.0 };
            }
            let data = cells.random_data(0, states.clone());
            Line { cells, data }
        });
        BlockSlice {
            chip,
            seed,
            first: from.start,
            layers,
            lines: lines.collect(),
            strings: vec![0.0; count],
            pulses: [(0, 0); 2],
        }
    }

    fn place(&self, above: u32, word_line: u32) -> usize {
        (above * self.chip.word_lines + word_line) as usize
    }

    /// Programs the layer below, then `steps`, then the layer above; calls `then` after each step.
    ///
    /// The neighbour layers get their final states in one program, because only their total rise matters.
    pub fn program(&mut self, steps: &[Step], mut then: impl FnMut(&mut BlockSlice<'a>, &Step)) {
        for w in 0..self.chip.word_lines {
            self.write(0, w, 0, 0, 0);
        }
        for (number, step) in steps.iter().enumerate() {
            let pulses =
                self.write(step.layer + 1, step.word_line, step.below, step.top + 1, number as u64 + 1);
            let again =
                steps[..number].iter().any(|s| (s.layer, s.word_line) == (step.layer, step.word_line));
            let of = &mut self.pulses[usize::from(again)];
            *of = (of.0 + u64::from(pulses), of.1 + 1);
            then(self, step);
        }
        for w in 0..self.chip.word_lines {
            self.write(self.layers + 1, w, 0, self.layers + 1, 0);
        }
    }

    /// Programs a word line to its final states less `below`; no layer above `top` is programmed. Returns the number of pulses,
    /// without pulses too weak to move a cell.
    fn write(&mut self, above: u32, word_line: u32, below: u8, top: u32, cycle: u64) -> u32 {
        let (chip, at) = (self.chip, self.place(above, word_line));
        self.strings.fill(0.0);
        for layer in above + 1..=top {
            chip.pattern.add(
                &mut self.strings,
                &self.lines[(layer * chip.word_lines + word_line) as usize].cells.vth,
            );
        }
        let line = &mut self.lines[at];
        let before = line.cells.vth.clone();
        let target: Vec<u8> = line.data.iter().map(|state| state - below).collect();
        let mut run = Program::begin(&chip.cells, &line.cells, &target, cycle);
        let mut raised = Vec::new();
        if top > above {
            let hindrance = chip.pattern.hindrance_of(word_line);
            run.hinder(&self.strings.iter().map(|r| hindrance * r).collect::<Vec<f32>>());
            raised = self.strings.iter().map(|r| chip.pattern.apparent * r).collect();
        }
        run.verify_first(&line.cells, &raised, &chip.cells);
        let mut pulses = 0;
        for number in run.first_loop(&chip.cells, &line.cells)..chip.cells.ispp.max_loops {
            if run.is_done() {
                break;
            }
            pulses += 1;
            run.pulse(&chip.cells, &mut line.cells, number, 1.0);
            run.verify(&chip.cells, &line.cells, &raised, number);
        }
        self.couple_neighbours(above, word_line, &before);
        pulses
    }

    /// Couples the rise of a word line since `before` into its neighbours.
    fn couple_neighbours(&mut self, above: u32, word_line: u32, before: &[f32]) {
        let (chip, at, n) = (self.chip, self.place(above, word_line), self.chip.word_lines);
        let beside = [word_line.checked_sub(1), Some(word_line + 1).filter(|&w| w < n)];
        let along = [above.checked_sub(1), Some(above + 1).filter(|&layer| layer < self.layers + 2)];
        let beside = beside.into_iter().flatten().map(|w| (above, w, chip.coupling.across));
        let along = along.into_iter().flatten().map(|layer| (layer, word_line, chip.coupling.along));
        let (key, after) = (self.lines[at].cells.key, std::mem::take(&mut self.lines[at].cells.vth));
        for (layer, w, gamma) in beside.chain(along) {
            let victim = &mut self.lines[(layer * n + w) as usize].cells;
            let pair = subkey(victim.key ^ mix(key), purpose::COUPLING);
            disturb(&mut victim.vth, before, &after, gamma, chip.coupling.variation, pair);
        }
        self.lines[at].cells.vth = after;
    }

    /// Reads the word lines after `hours` at `celsius` degrees and `cycles` P/E cycles. The cells stay as programmed, because
    /// ageing is not additive.
    pub fn read_after(&mut self, hours: f64, celsius: f64, cycles: f64, take: impl FnMut(&SensedLine)) {
        let (retention, leakiness) = (&self.chip.cells.retention, self.chip.leakiness(cycles));
        let hours = retention.equivalent_hours(hours, celsius);
        let programmed: Vec<Vec<f32>> = self.lines.iter().map(|line| line.cells.vth.clone()).collect();
        for line in &mut self.lines {
            let key = subkey(line.cells.key, purpose::RETENTION);
            retention.age(&mut line.cells.vth, key, leakiness, hours);
        }
        self.read(take);
        for (line, vth) in self.lines.iter_mut().zip(programmed) {
            line.cells.vth = vth;
        }
    }

    /// Reads the word lines from the top down.
    pub fn read(&mut self, mut take: impl FnMut(&SensedLine)) {
        for w in 0..self.chip.word_lines {
            self.begin_string(w);
            for above in (1..=self.layers).rev() {
                let vth = self.sensed(above, w, 0);
                let line = &self.lines[self.place(above, w)];
                take(&SensedLine {
                    layer: self.first + above - 1,
                    word_line: w,
                    vth: &vth,
                    data: &line.data,
                });
                self.chip.pattern.add(&mut self.strings, &line.cells.vth);
            }
        }
    }

    /// Reads one word line right after its program, with no programmed layer above. Returns voltages and final states.
    pub fn read_fresh(&mut self, layer: u32, word_line: u32) -> (Vec<f32>, &[u8]) {
        self.strings.fill(0.0);
        (self.sensed(layer + 1, word_line, 1), &self.lines[self.place(layer + 1, word_line)].data)
    }

    /// The voltages that read number `read` senses, with the resistance in `strings`.
    fn sensed(&self, above: u32, word_line: u32, read: u64) -> Vec<f32> {
        let (chip, normal) = (self.chip, Normal::new());
        let cells = &self.lines[self.place(above, word_line)].cells;
        let offset = chip.layer_offset(self.seed, self.first + above - 1);
        let key = subkey(cells.key ^ mix(read), purpose::SENSING);
        let seen = |(cell, (v, r)): (usize, (&f32, &f32))| {
            v + offset + chip.pattern.apparent * r + chip.cells.read.noise * normal.of(hash(key, cell as u32))
        };
        cells.vth.iter().zip(&self.strings).enumerate().map(seen).collect()
    }

    /// Initialises `strings` with the resistance of the layers above. Layers beyond the neighbour are not simulated: the sum of
    /// many cells of the distribution of the neighbour is approximately normal.
    fn begin_string(&mut self, word_line: u32) {
        let (pattern, normal) = (&self.chip.pattern, Normal::new());
        let neighbour = &self.lines[self.place(self.layers + 1, word_line)].cells;
        let beyond = self.chip.layers.saturating_sub(self.first + self.layers + 1) as f32;
        let (mean, sd) = moments(neighbour.vth.iter().map(|&v| pattern.resistance(v)));
        let (mean, sd) = (beyond * mean, libm::sqrtf(beyond) * sd);
        let key = subkey(neighbour.key, purpose::STRING);
        for (cell, r) in self.strings.iter_mut().enumerate() {
            *r = (mean + sd * normal.of(hash(key, cell as u32))).max(0.0);
        }
        if self.first + self.layers < self.chip.layers {
            pattern.add(&mut self.strings, &neighbour.vth);
        }
    }
}

/// Mean and standard deviation.
fn moments(of: impl Iterator<Item = f32>) -> (f32, f32) {
    let (mut n, mut sum, mut squares) = (0.0f64, 0.0f64, 0.0f64);
    for x in of.map(f64::from) {
        n += 1.0;
        sum += x;
        squares += x * x;
    }
    let mean = sum / n;
    (mean as f32, libm::sqrt((squares / n - mean * mean).max(0.0)) as f32)
}

#[cfg(test)]
mod tests {
    use super::super::program_order::{conventional, reprogrammed};
    use super::*;
    use interpulse_settings::Document;

    fn chip(set: &[(&str, &str)]) -> Chip {
        let sets = set.iter().fold(Document::empty(), |low, (key, value)| {
            Document::set(key, value).expect("it parses").over(low).expect("they differ")
        });
        Chip::resolve("b17a-tlc", sets).expect("it is right")
    }

    fn voltages(part: &BlockSlice) -> Vec<Vec<f32>> {
        part.lines.iter().map(|line| line.cells.vth.clone()).collect()
    }

    #[test]
    fn no_cell_moves_down() {
        let chip = chip(&[]);
        for steps in [conventional(4, 4), reprogrammed(4, 4, 2, 4, 3, 8), reprogrammed(4, 4, 4, 4, 3, 8)] {
            let states = if steps.iter().any(|s| s.below > 0) { 4..8 } else { 0..8 };
            let mut part = BlockSlice::erased(&chip, 3, 8..12, 2_000, states);
            let mut before = voltages(&part);
            part.program(&steps, |part, _| {
                let after = voltages(part);
                assert!(before.iter().flatten().zip(after.iter().flatten()).all(|(from, to)| to >= from));
                before = after;
            });
        }
    }

    #[test]
    fn a_program_raises_only_its_neighbours_by_their_share() {
        let chip = chip(&[
            ("cell.interference.variation", "0.0"),
            ("cell.interference.along", "0.015625"),
            ("cell.interference.across", "0.0078125"),
        ]);
        let mut part = BlockSlice::erased(&chip, 1, 0..3, 1_000, 0..8);
        let before = voltages(&part);
        let (above, w) = (2, 1);
        part.write(above, w, 0, above, 0);
        let after = voltages(&part);
        let at = part.place(above, w);
        for layer in 0..5u32 {
            for other in 0..4u32 {
                let gamma = match (layer.abs_diff(above), other.abs_diff(w)) {
                    (1, 0) => 0.015_625,
                    (0, 1) => 0.007_812_5,
                    _ => 0.0,
                };
                let line = part.place(layer, other);
                for cell in (0..1_000).filter(|_| line != at) {
                    let rise = after[at][cell] - before[at][cell];
                    assert_eq!(after[line][cell], before[line][cell] + gamma * rise);
                }
            }
        }
        assert!(after[at].iter().zip(&before[at]).any(|(to, from)| to - from > 300.0));
    }

    /// Programmed cells above weaken pulses: with a tight loop limit, more cells stay below their level.
    #[test]
    fn a_programmed_string_leaves_cells_behind() {
        let low = |hindrance: &str| {
            let chip = chip(&[("cell.pattern.hindrance", hindrance), ("cell.ispp.max-loops", "20")]);
            let mut part = BlockSlice::erased(&chip, 1, 0..2, 20_000, 4..8);
            for (above, top) in [(2, 2), (1, 2)] {
                part.write(above, 0, 0, top, 0);
            }
            let line = &part.lines[part.place(1, 0)];
            line.cells.vth.iter().zip(&line.data).filter(|&(&v, &state)| state == 7 && v < 415.0).count()
        };
        let (without, with) = (low("0.0"), low("48.0"));
        assert!(without < 100 && with > 10 * without.max(10), "{without} and {with}");
    }

    #[test]
    fn the_share_of_slow_cells_is_as_configured() {
        let of = chip(&[("cell.chip.slow-share", "0.01"), ("cell.chip.slow-by", "400.0")]);
        let part = BlockSlice::erased(&of, 1, 0..2, 100_000, 0..8);
        let slow = part.lines[0].cells.speed.iter().filter(|&&speed| speed < -200.0).count() as f64;
        assert!((slow - 1000.0).abs() < 5.0 * 1000f64.sqrt(), "{slow}");
        let none = chip(&[("cell.chip.slow-share", "0.0"), ("cell.chip.slow-by", "400.0")]);
        let part = BlockSlice::erased(&none, 1, 0..2, 100_000, 0..8);
        assert!(part.lines[0].cells.speed.iter().all(|&speed| speed > -200.0));
    }
}
