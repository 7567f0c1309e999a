//! What corrects bit errors: the code, its decoder, and what follows when decoding fails.

use interpulse_engine::Duration;

/// Error correction and read retry.
#[derive(Clone, Debug, PartialEq)]
pub struct Ecc {
    /// Bits of a codeword.
    pub codeword_bits: u32,
    /// Bit errors of a codeword that hard decoding corrects.
    pub capability: u32,
    /// How long hard decoding takes.
    pub decode: DecodeTime,
    /// Most retry steps of a read, each a sensing with other read offsets.
    pub max_retries: u32,
    /// Whether the next retry step is sensed while the data of the one before moves out and is decoded (PR2).
    pub pipelined: bool,
    /// Sensing time of a retry step as a share of tR, in millionths (AR2 shortens it).
    pub retry_sensing_ppm: u32,
    /// Time that ends a sensing begun in vain by pipelining.
    pub reset: Duration,
    /// Whether a read starts with the step that last succeeded on its block.
    pub predict: bool,
    /// What is tried when all retry steps have failed, in order.
    pub soft: Vec<SoftStage>,
}

/// How long hard decoding of a page's data takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DecodeTime {
    /// Always the array's own latency.
    Fixed,
    /// `iteration` x (1 + `growth` x (e / capability)^2), at most `most` iterations; what fails takes them all.
    Iterations {
        /// Time of one iteration.
        iteration: Duration,
        /// Growth with the square of the errors.
        growth: f64,
        /// Most iterations.
        most: u32,
    },
}

/// Decoding with soft information: further sensings around the offsets of the last retry step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SoftStage {
    /// Sensings beyond those of the stage before.
    pub sensings: u32,
    /// Bit errors of a codeword that decoding corrects with them.
    pub capability: u32,
    /// Decode latency.
    pub latency: Duration,
}

impl Default for Ecc {
    /// 80 bits in 1 KiB (Gao et al., MICRO'19), up to 8 regular retry steps, no soft decoding.
    fn default() -> Ecc {
        Ecc {
            codeword_bits: 8192,
            capability: 80,
            decode: DecodeTime::Fixed,
            max_retries: 8,
            pipelined: false,
            retry_sensing_ppm: 1_000_000,
            reset: Duration::ZERO,
            predict: false,
            soft: Vec::new(),
        }
    }
}

impl Ecc {
    /// Decode latency by the number of errors of the worst codeword, from none to one more than can be corrected; `fixed`
    /// is the array's own.
    pub fn latencies(&self, fixed: Duration) -> Vec<Duration> {
        let of = |errors: u32| match self.decode {
            DecodeTime::Fixed => fixed,
            DecodeTime::Iterations { iteration, growth, most } => {
                let share = f64::from(errors) / f64::from(self.capability);
                let iterations = (1.0 + growth * share * share).min(f64::from(most));
                let iterations = if errors > self.capability { f64::from(most) } else { iterations };
                Duration::from_ns(libm::round(iteration.as_ns() as f64 * iterations) as u64)
            }
        };
        (0..=self.capability + 1).map(of).collect()
    }

    /// How long a retry step senses a page whose sensing takes `full`.
    pub fn retry_sensing(&self, full: Duration) -> Duration {
        Duration::from_ns((full.as_ns() * u64::from(self.retry_sensing_ppm)).div_ceil(1_000_000))
    }

    /// Everything that may follow a first failed decode: retry steps and soft stages.
    pub fn further_attempts(&self) -> u32 {
        self.max_retries + self.soft.len() as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1 us an iteration, 20 at the capability, a quarter of the growth at half of it.
    #[test]
    fn iterations_grow_with_the_square_of_the_errors() {
        let us = Duration::from_us;
        let decode = DecodeTime::Iterations { iteration: us(1), growth: 19.0, most: 20 };
        let ecc = Ecc { capability: 40, decode, ..Ecc::default() };
        let times = ecc.latencies(us(99));
        assert_eq!(times.len(), 42);
        assert_eq!((times[0], times[40], times[41]), (us(1), us(20), us(20)));
        assert_eq!(times[20], Duration::from_ns(5_750));
        let capped = DecodeTime::Iterations { iteration: us(1), growth: 100.0, most: 12 };
        assert_eq!(Ecc { decode: capped, ..ecc.clone() }.latencies(us(99))[30], us(12));
        assert_eq!(Ecc { decode: DecodeTime::Fixed, ..ecc }.latencies(us(4)), vec![us(4); 42]);
    }

    #[test]
    fn a_shortened_sensing_is_rounded_up_to_whole_nanoseconds() {
        let ecc = Ecc { retry_sensing_ppm: 750_000, ..Ecc::default() };
        assert_eq!(ecc.retry_sensing(Duration::from_ns(50_001)), Duration::from_ns(37_501));
    }
}
