//! Error correction: code, decoder latency, read retry and soft decoding.

use super::retry::Retry;
use interpulse_engine::Duration;

/// Error correction and read retry.
#[derive(Clone, Debug, PartialEq)]
pub struct Ecc {
    /// Bits of a codeword.
    pub codeword_bits: u32,
    /// Bit errors of a codeword that hard decoding corrects.
    pub capability: u32,
    /// Growth g of the hard-decode latency with e errors: latency x (1 + g x (e / capability)^2).
    pub latency_growth: f64,
    /// Longest hard decode, taken by a failing one; `None` is the latency at `capability` errors.
    pub max_latency: Option<Duration>,
    /// Most retry steps of a read, each a sensing with different read offsets.
    pub max_retries: u32,
    /// How reads are retried.
    pub retry: Retry,
    /// Sensing time of a retry step in millionths of tR (AR2 shortens it).
    pub retry_sensing_ppm: u32,
    /// Whether a read starts with the last successful step of its block.
    pub predict: bool,
    /// Soft-decoding stages after all retry steps have failed, in order.
    pub soft: Vec<SoftStage>,
}

/// Decoding with soft information: further sensings around the offsets of the last retry step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SoftStage {
    /// Sensings in addition to those of the previous stage.
    pub sensings: u32,
    /// Bit errors of a codeword that this stage corrects.
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
            latency_growth: 0.0,
            max_latency: None,
            max_retries: 8,
            retry: Retry::Regular,
            retry_sensing_ppm: 1_000_000,
            predict: false,
            soft: Vec::new(),
        }
    }
}

impl Ecc {
    /// Decode latency by errors of the worst codeword, from 0 to `capability` + 1; `clean` is the latency without errors.
    pub fn latencies(&self, clean: Duration) -> Vec<Duration> {
        let grown = |share: f64| {
            let ns = clean.as_ns() as f64 * (1.0 + self.latency_growth * share * share);
            Duration::from_ns(libm::round(ns) as u64)
        };
        let longest = self.max_latency.unwrap_or_else(|| grown(1.0));
        let of = |errors: u32| grown(f64::from(errors) / f64::from(self.capability)).min(longest);
        (0..=self.capability).map(of).chain([longest]).collect()
    }

    /// Sensing time of a retry step of a page with sensing time `full`.
    pub fn retry_sensing(&self, full: Duration) -> Duration {
        Duration::from_ns((full.as_ns() * u64::from(self.retry_sensing_ppm)).div_ceil(1_000_000))
    }

    /// Attempts that may follow a first failed decode: retry steps and soft stages.
    pub fn further_attempts(&self) -> u32 {
        self.max_retries + self.soft.len() as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1 us without errors, 20 at the capability, a quarter of the growth at half of it.
    #[test]
    fn decoding_slows_down_with_the_square_of_the_errors() {
        let us = Duration::from_us;
        let ecc = Ecc { capability: 40, latency_growth: 19.0, ..Ecc::default() };
        let times = ecc.latencies(us(1));
        assert_eq!(times.len(), 42);
        assert_eq!((times[0], times[40], times[41]), (us(1), us(20), us(20)));
        assert_eq!(times[20], Duration::from_ns(5_750));
        let capped = Ecc { latency_growth: 100.0, max_latency: Some(us(12)), ..ecc.clone() };
        assert_eq!((capped.latencies(us(1))[30], capped.latencies(us(1))[41]), (us(12), us(12)));
        let waits = Ecc { max_latency: Some(us(50)), ..ecc.clone() };
        assert_eq!((waits.latencies(us(1))[40], waits.latencies(us(1))[41]), (us(20), us(50)));
        assert_eq!(Ecc { latency_growth: 0.0, ..ecc }.latencies(us(4)), vec![us(4); 42]);
    }

    #[test]
    fn a_shortened_sensing_is_rounded_up_to_whole_nanoseconds() {
        let ecc = Ecc { retry_sensing_ppm: 750_000, ..Ecc::default() };
        assert_eq!(ecc.retry_sensing(Duration::from_ns(50_001)), Duration::from_ns(37_501));
    }
}
