//! Variation of pulse trains between word lines and between blocks: a fixed function of the address, never of time, so that
//! a word line always takes the same program time (Zambelli et al. 2021, Section 3.2).

use crate::erase::{BlockErase, EraseMethod};
use crate::parts::{EraseWear, PartSpec};
use crate::pulse::PulseTrain;
use interpulse_engine::Duration;
use interpulse_engine::random::mix;
use interpulse_settings::choices;

/// AERO's distributions of the number of erase loops of 3D TLC blocks against P/E cycles (facts of the
/// authors' block model, see docs/PARTS.md): (cycles, percent of blocks needing 1, 2, 3, 4, 5 loops).
const AERO: [(u32, [f64; 5]); 11] = [
    (0, [100.0, 0.0, 0.0, 0.0, 0.0]),
    (500, [92.0, 8.0, 0.0, 0.0, 0.0]),
    (1000, [76.0, 18.0, 5.0, 0.0, 0.0]),
    (1500, [16.0, 63.0, 21.0, 0.0, 0.0]),
    (2000, [0.0, 56.0, 38.0, 6.0, 0.0]),
    (2500, [0.0, 36.0, 49.0, 15.0, 0.0]),
    (3000, [0.0, 25.0, 45.0, 22.0, 8.0]),
    (3500, [0.0, 8.0, 37.0, 40.0, 15.0]),
    (4000, [0.0, 0.0, 24.0, 45.0, 31.0]),
    (4500, [0.0, 0.0, 8.0, 38.0, 54.0]),
    (5000, [0.0, 0.0, 0.0, 21.0, 79.0]),
];
/// Loops of a fresh block of AERO's parts, the reference of the growth.
const AERO_LOOPS_FRESH: u32 = 1;

choices! {
    /// How long programs and erases last: the comparison policies of Wu and He, FAST'12, slide 5.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum LongOperations, default Real {
        /// as long as their pulses
        Real = "real",
        /// as long as a read (PER of Wu and He, FAST'12)
        // The longest tR of all page types.
        AsRead = "as-read",
        /// no time at all (PE0 of Wu and He, FAST'12)
        // Loading the page buffer over the bus remains.
        Zero = "zero",
    }
}

impl LongOperations {
    /// The replacement for the trains of the part, if any.
    fn train(self, part: &PartSpec) -> Option<PulseTrain> {
        let pulse = match self {
            LongOperations::Real => return None,
            LongOperations::AsRead => part.read.iter().copied().max().expect("a part has a page type"),
            LongOperations::Zero => Duration::ZERO,
        };
        Some(PulseTrain::even(1, pulse, Duration::ZERO, Duration::ZERO))
    }
}

/// Builds the pulse train of a given word line or block.
#[derive(Clone, Debug)]
pub struct Trains {
    program: PulseTrain,
    program_loops_sd: f64,
    /// MLC-mode trains: first program and reprogram.
    two_bit: [PulseTrain; 2],
    /// SLC-mode train.
    one_bit: PulseTrain,
    /// First step of two.
    first_step: PulseTrain,
    erase: PulseTrain,
    wear: EraseWear,
    method: EraseMethod,
    seed: u64,
}

impl Trains {
    /// The trains of `part` with this erase method; `seed` selects the variation. Replaced trains do not vary.
    pub fn new(part: &PartSpec, long: LongOperations, method: EraseMethod, seed: u64) -> Trains {
        if let Some(train) = long.train(part) {
            return Trains {
                program: train,
                program_loops_sd: 0.0,
                two_bit: [train; 2],
                one_bit: train,
                first_step: train,
                erase: train,
                wear: EraseWear::Fixed,
                method: EraseMethod::Ispe,
                seed,
            };
        }
        Trains {
            program: part.program,
            program_loops_sd: part.program_loops_sd,
            two_bit: part.reprogram.map_or([part.program; 2], |r| [r.mlc_program, r.reprogram]),
            one_bit: part.slc_mode.map_or(part.program, |of| of.program),
            first_step: part.two_step.map_or(part.program, |of| of.program),
            erase: part.erase,
            wear: part.erase_wear,
            method,
            seed,
        }
    }

    /// Whether program trains differ between word lines.
    #[inline]
    pub fn vary(&self) -> bool {
        self.program_loops_sd != 0.0
    }

    /// The program train of the word line `key` (die, plane, block, word line).
    #[inline]
    pub fn program(&self, key: u64) -> PulseTrain {
        if self.program_loops_sd == 0.0 {
            return self.program;
        }
        self.varied(self.program, key)
    }

    /// The MLC-mode train of a word line: first program or reprogram. Its relative slowness is that of a normal program.
    pub fn two_bit(&self, reprogram: bool, key: u64) -> PulseTrain {
        let train = self.two_bit[usize::from(reprogram)];
        if self.program_loops_sd == 0.0 { train } else { self.varied(train, key) }
    }

    /// The SLC-mode train of a word line. Its relative slowness is that of a normal program.
    pub fn one_bit(&self, key: u64) -> PulseTrain {
        if self.program_loops_sd == 0.0 { self.one_bit } else { self.varied(self.one_bit, key) }
    }

    /// The train of the first step of a word line. Its relative slowness is that of the second.
    pub fn first_step(&self, key: u64) -> PulseTrain {
        if self.program_loops_sd == 0.0 { self.first_step } else { self.varied(self.first_step, key) }
    }

    fn varied(&self, train: PulseTrain, key: u64) -> PulseTrain {
        let share = f64::from(train.loops) / f64::from(self.program.loops);
        let sd = self.program_loops_sd * share;
        let shift = libm::round(sd * normal(mix(self.seed ^ mix(key ^ 0x70))));
        let loops = (f64::from(train.loops) + shift).max(1.0);
        PulseTrain { loops: loops as u32, ..train }
    }

    /// The erase train of a fresh block.
    pub fn fresh_erase(&self) -> PulseTrain {
        self.erase
    }

    /// The erase train of a block after `cycles` program/erase cycles. `key` identifies the block.
    ///
    /// With `aero` a block keeps its rank among all blocks, so its loops never decrease with wear; beyond 5,000 cycles
    /// the last distribution applies. The loops of the part are those of a fresh block, scaled by AERO's growth.
    pub fn erase(&self, key: u64, cycles: u32) -> PulseTrain {
        if (self.wear, self.method) == (EraseWear::Fixed, EraseMethod::Ispe) {
            return self.erase;
        }
        let random = |bits: u64| (mix(self.seed ^ mix(bits)) >> 11) as f64 / (1u64 << 53) as f64;
        let rank = random(key ^ 0xe0);
        let (cycles, growth) = match self.wear {
            EraseWear::Fixed => (0, AERO_LOOPS_FRESH),
            EraseWear::Aero => (cycles, aero_loops(cycles, rank)),
        };
        let nominal = PulseTrain { loops: self.erase.loops * growth / AERO_LOOPS_FRESH, ..self.erase };
        if self.method == EraseMethod::Ispe {
            return nominal;
        }
        let chance = random(key ^ mix(u64::from(cycles)) ^ 0xe1);
        self.method.train(&BlockErase { nominal, fresh: self.erase, cycles, rank, chance })
    }
}

/// Loops of the block of rank `rank` (0 to 1) after `cycles` cycles: interpolated between rows and normalised, because
/// the published rows are rounded and do not all add to 100 %.
fn aero_loops(cycles: u32, rank: f64) -> u32 {
    let above = AERO.iter().position(|&(c, _)| c >= cycles).unwrap_or(AERO.len() - 1);
    let below = above.saturating_sub(1);
    let ((c0, row0), (c1, row1)) = (AERO[below], AERO[above]);
    let weight = if c1 == c0 { 0.0 } else { f64::from(cycles.min(c1) - c0) / f64::from(c1 - c0) };
    let sum = |row: &[f64; 5]| row.iter().sum::<f64>();
    let share = |k: usize| row0[k] / sum(&row0) * (1.0 - weight) + row1[k] / sum(&row1) * weight;
    let mut below_rank = 0.0;
    for k in 0..5 {
        below_rank += share(k);
        if rank < below_rank {
            return k as u32 + 1;
        }
    }
    5
}

/// An approximately normal variate from 64 mixed bits: the sum of four 16-bit uniforms, bounded at +-3.46 sigma as real
/// loop counts are.
fn normal(bits: u64) -> f64 {
    let sum: u64 = (0..4).map(|k| (bits >> (16 * k)) & 0xffff).sum();
    (sum as f64 / 65536.0 - 2.0) * libm::sqrt(3.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::{ProgramMode, SuspendSupport, TrainSpec};
    use interpulse_engine::{Bytes, Duration};

    fn part(sd: f64, wear: EraseWear) -> PartSpec {
        use crate::parts::{CacheRegister, CommandBus, PlaneAddress, PowerSpec, SubBlocks};
        let us = Duration::from_us;
        PartSpec {
            name: "test".into(),
            planes: 1,
            blocks_per_plane: 8,
            pages_per_block: 12,
            page_size: Bytes::kib(16),
            page_parity: Bytes(0),
            bits_per_cell: 3,
            layers: 1,
            program_mode: ProgramMode::OneShot,
            read: vec![us(80); 3],
            independent_plane_reads: false,
            plane_address: PlaneAddress::Any,
            sub_blocks: SubBlocks::ONE,
            buffer_setup: us(0),
            program: TrainSpec::even(16, us(35), us(0), us(90)),
            program_loops_sd: sd,
            erase: TrainSpec::even(1, us(3400), us(0), us(100)),
            erase_wear: wear,
            suspend_support: SuspendSupport::Nested,
            voltage_reset: us(0),
            program_suspend_entry: us(0),
            program_resume: us(0),
            page_buffer_reload: us(0),
            erase_suspend_entry: us(0),
            erase_resume: us(0),
            bus_rate: 400_000_000,
            command_bus: CommandBus::Shared,
            page_load: None,
            read_transfer: Default::default(),
            command_cycles: us(0),
            endurance: 1000,
            reprogram: None,
            slc_mode: None,
            two_step: None,
            cache: CacheRegister::NONE,
            power: PowerSpec::default(),
        }
    }

    #[test]
    fn a_word_line_always_takes_the_same_loops_and_word_lines_differ() {
        let trains = Trains::new(&part(1.0, EraseWear::Fixed), LongOperations::Real, EraseMethod::Ispe, 5);
        let loops: Vec<u32> = (0..20_000).map(|k| trains.program(k).loops).collect();
        assert!(loops.iter().enumerate().all(|(k, &n)| trains.program(k as u64).loops == n));
        let mean = loops.iter().map(|&n| f64::from(n)).sum::<f64>() / loops.len() as f64;
        let var = loops.iter().map(|&n| (f64::from(n) - mean).powi(2)).sum::<f64>() / loops.len() as f64;
        assert!((mean - 16.0).abs() < 6.0 / (loops.len() as f64).sqrt() * 1.1, "mean {mean}");
        // Rounding to whole loops adds 1/12 to the variance.
        assert!((var - 1.0 - 1.0 / 12.0).abs() < 0.08, "variance {var}");
    }

    /// Mean erase times of the published table (3.5 ms a loop), within the rounding to whole percents.
    #[test]
    fn aero_mean_erase_time_grows_as_published() {
        let trains = Trains::new(&part(0.0, EraseWear::Aero), LongOperations::Real, EraseMethod::Ispe, 5);
        for (cycles, mean_ms) in
            [(0, 3.50), (500, 3.78), (1000, 4.49), (1500, 7.17), (2000, 8.75), (3000, 10.96), (5000, 16.77)]
        {
            let n = 40_000u64;
            let sum: u64 = (0..n).map(|b| trains.erase(b, cycles).total().as_ns()).sum();
            let ours = sum as f64 / n as f64 / 1e6;
            assert!((ours / mean_ms - 1.0).abs() < 0.015, "{cycles} cycles: {ours} ms against {mean_ms}");
        }
    }

    #[test]
    fn a_block_never_needs_fewer_loops_as_it_wears() {
        let trains = Trains::new(&part(0.0, EraseWear::Aero), LongOperations::Real, EraseMethod::Ispe, 5);
        for block in 0..200 {
            let loops: Vec<u32> = (0..=60).map(|k| trains.erase(block, k * 100).loops).collect();
            assert!(loops.is_sorted(), "block {block}: {loops:?}");
        }
    }
}
