//! Some neighbouring layers of a block, programmed and read.

use super::chip::Chip;
use super::order::Step;
use crate::cells::{Cells, subkey};
use crate::histogram::Histogram;
use crate::interference::disturb;
use crate::kernel::hash;
use crate::normal::Normal;
use crate::program::Program;
use interpulse_engine::random::mix;

/// Purposes of keys.
mod purpose {
    pub const WORD_LINE: u64 = 0x2000;
    pub const COUPLING: u64 = 0x2001;
    pub const STRING: u64 = 0x2002;
    pub const SLOW: u64 = 0x2004;
    pub const SENSING: u64 = 0x2003;
}

/// Layers `first` to `first + layers` of a block; those right below and above are there too, as neighbours.
pub struct Part<'a> {
    chip: &'a Chip,
    first: u32,
    layers: u32,
    /// Word lines by layer, beginning with the layer below `first`.
    lines: Vec<Line>,
    /// Room for a program.
    before: Vec<f32>,
    strings: Vec<f32>,
    scratch: Vec<f32>,
}

struct Line {
    cells: Cells,
    /// State that each cell is to have, or has, at the end.
    data: Vec<u8>,
}

/// What a word line is programmed to: its final states less this many.
pub type Below = u8;

impl<'a> Part<'a> {
    /// Erased word lines of `count` cells that are to hold random data of `states` in the end.
    pub fn erased(chip: &'a Chip, seed: u64, first: u32, layers: u32, count: usize, states: std::ops::Range<u8>) -> Part<'a> {
        let lines = (0..layers + 2)
            .flat_map(|above| (0..chip.word_lines).map(move |w| (above, w)))
            .map(|(above, w)| {
                let address = u64::from(first + above) << 16 | u64::from(w);
                let key = mix(seed ^ mix(purpose::WORD_LINE) ^ mix(address));
                let mut cells = Cells::erased(&chip.cells, count, key, 0);
                let slow = subkey(key, purpose::SLOW);
                for (cell, speed) in cells.speed.iter_mut().enumerate() {
                    if (hash(slow, cell as u32) as f32) < chip.slow_share * 4_294_967_296.0 {
                        *speed -= chip.slow_by;
                    }
                }
                let data = cells.random_data(0, states.clone());
                Line { cells, data }
            })
            .collect();
        let room = vec![0.0; count];
        Part { chip, first, layers, lines, before: room.clone(), strings: room.clone(), scratch: room }
    }

    fn place(&self, above: u32, word_line: u32) -> usize {
        (above * self.chip.word_lines + word_line) as usize
    }

    /// Programs one word line; `top` is the layer up to which there are programmed cells above it.
    fn write(&mut self, above: u32, word_line: u32, below: Below, top: u32, cycle: u64) {
        let (chip, at) = (self.chip, self.place(above, word_line));
        self.strings.fill(0.0);
        for layer in above + 1..=top {
            chip.pattern.add(&mut self.strings, &self.lines[(layer * chip.word_lines + word_line) as usize].cells.vth);
        }
        let alone = above >= top;
        let line = &mut self.lines[at];
        let hindrance = chip.pattern.hindrance_of(line.cells.key);
        let target: Vec<u8> = line.data.iter().map(|state| state - below).collect();
        self.before.copy_from_slice(&line.cells.vth);
        let mut run = Program::begin(&chip.cells, &line.cells, &target, cycle);
        if !alone {
            self.scratch.iter_mut().zip(&self.strings).for_each(|(x, r)| *x = hindrance * r);
            run.hinder(&self.scratch);
            self.scratch.iter_mut().zip(&self.strings).for_each(|(x, r)| *x = chip.pattern.apparent * r);
        }
        let raised: &[f32] = if alone { &[] } else { &self.scratch };
        run.verify_first(&line.cells, raised, &chip.cells);
        for number in run.first_loop(&chip.cells, &line.cells)..chip.cells.ispp.max_loops {
            if run.is_done() {
                break;
            }
            run.pulse(&chip.cells, &mut line.cells, number, 1.0);
            run.verify(&chip.cells, &line.cells, raised, number);
        }
        let after = std::mem::take(&mut self.lines[at].cells.vth);
        let n = chip.word_lines;
        let beside = [word_line.checked_sub(1), Some(word_line + 1).filter(|&w| w < n)];
        let over = [above.checked_sub(1), Some(above + 1).filter(|&l| l < self.layers + 2)];
        let across = beside.into_iter().flatten().map(|w| (above, w, chip.coupling.across));
        let along = over.into_iter().flatten().map(|l| (l, word_line, chip.coupling.along));
        for (layer, w, gamma) in across.chain(along) {
            let key = self.lines[at].cells.key;
            let victim = &mut self.lines[(layer * n + w) as usize].cells;
            let pair = subkey(victim.key ^ mix(key), purpose::COUPLING);
            disturb(&mut victim.vth, &self.before, &after, gamma, chip.coupling.variation, pair);
        }
        self.lines[at].cells.vth = after;
    }

    /// Programs the layer below first, then the layers step by step, at last the layer above. The neighbours outside get their
    /// final states in one program: what they pass on depends on their whole rise only.
    pub fn program(&mut self, steps: &[Step]) {
        for w in 0..self.chip.word_lines {
            self.write(0, w, 0, 0, 0);
        }
        for (number, step) in steps.iter().enumerate() {
            self.write(step.layer + 1, step.word_line, step.below, step.top + 1, number as u64 + 1);
        }
        for w in 0..self.chip.word_lines {
            self.write(self.layers + 1, w, 0, 0, 0);
        }
    }

    /// Reads all word lines from the top down and hands layer, word line and histogram to `take`.
    pub fn read(&mut self, mut take: impl FnMut(u32, u32, &Histogram)) {
        let (chip, normal) = (self.chip, Normal::new());
        for w in 0..chip.word_lines {
            let top = &self.lines[self.place(self.layers + 1, w)].cells;
            // The layers further up, not simulated: many cells of the same distribution, so a normal sum.
            let beyond = chip.layers.saturating_sub(self.first + self.layers + 1) as f32;
            let (mean, sd) = moments(top.vth.iter().map(|&v| chip.pattern.resistance(v)));
            let key = subkey(top.key, purpose::STRING);
            let strings = &mut self.strings;
            for (cell, r) in strings.iter_mut().enumerate() {
                *r = (beyond * mean + libm::sqrtf(beyond) * sd * normal.of(hash(key, cell as u32))).max(0.0);
            }
            let mut seen = vec![0.0f32; top.len()];
            if self.first + self.layers < chip.layers {
                chip.pattern.add(strings, &top.vth);
            }
            for above in (1..=self.layers).rev() {
                let line = &self.lines[(above * chip.word_lines + w) as usize];
                let layer = self.first + above - 1;
                let offset = chip.layer_offset(layer);
                let key = subkey(line.cells.key, purpose::SENSING);
                for (cell, ((seen, v), r)) in seen.iter_mut().zip(&line.cells.vth).zip(&*strings).enumerate() {
                    let noise = chip.cells.read.noise * normal.of(hash(key, cell as u32));
                    *seen = v + offset + chip.pattern.apparent * r + noise;
                }
                take(layer, w, &Histogram::of(&seen, &line.data));
                chip.pattern.add(strings, &line.cells.vth);
            }
        }
    }
}

/// Mean and standard deviation.
fn moments(of: impl Iterator<Item = f32>) -> (f32, f32) {
    let (mut n, mut sum, mut squares) = (0.0f64, 0.0f64, 0.0f64);
    for x in of {
        let x = f64::from(x);
        n += 1.0;
        sum += x;
        squares += x * x;
    }
    let mean = sum / n;
    (mean as f32, libm::sqrt((squares / n - mean * mean).max(0.0)) as f32)
}
