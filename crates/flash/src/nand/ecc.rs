//! ECC decode as a pipeline stage behind each channel: codewords (one per 4 KiB unit) enter one after the
//! other and leave a fixed latency later.

use interpulse_engine::{Duration, SimTime};
use std::collections::VecDeque;

/// Decoding of one channel.
#[derive(Clone)]
pub struct Decoder {
    latency: Duration,
    interval: Duration,
    free_at: SimTime,
    line: VecDeque<(SimTime, u32)>,
}

impl Decoder {
    /// A decoder with this latency per codeword that accepts one codeword per `interval`.
    pub fn new(latency: Duration, interval: Duration) -> Decoder {
        Decoder { latency, interval, free_at: SimTime::ZERO, line: VecDeque::new() }
    }

    /// Transaction `id` enters with `units` codewords. Returns the instant the first in line leaves if that
    /// has changed.
    #[inline]
    pub fn enter(&mut self, now: SimTime, id: u32, units: u32) -> Option<SimTime> {
        let start = self.free_at.max(now);
        self.free_at = start + self.interval * u64::from(units);
        let done = start + self.interval * u64::from(units.saturating_sub(1)) + self.latency;
        self.line.push_back((done, id));
        (self.line.len() == 1).then_some(done)
    }

    /// Takes the transaction that leaves now; returns it and when the next one leaves.
    #[inline]
    pub fn leave(&mut self, now: SimTime) -> (u32, Option<SimTime>) {
        let (at, id) = self.line.pop_front().expect("the decoder's timer is armed only for a codeword");
        debug_assert_eq!(at, now);
        (id, self.line.front().map(|&(t, _)| t))
    }
}
