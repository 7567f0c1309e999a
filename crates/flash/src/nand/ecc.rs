//! ECC decoder of a channel, a pipeline: the codewords of a page read (one per 4 KiB) enter one after the other, and the
//! last leaves its latency later. A codeword with a short latency may overtake one with a long latency.

use crate::ids::TxnId;
use interpulse_engine::{Duration, Ring, SimTime};

/// Decoding of one channel.
#[derive(Clone)]
pub struct Decoder {
    interval: Duration,
    free_at: SimTime,
    /// Time taken by the codewords that have entered, in ns.
    busy_ns: u64,
    /// By instant of leaving; equal ones in order of entry.
    line: Ring<(SimTime, TxnId)>,
}

impl Decoder {
    /// A decoder that accepts one codeword per `interval`.
    pub fn new(interval: Duration) -> Decoder {
        Decoder { interval, free_at: SimTime::ZERO, busy_ns: 0, line: Ring::default() }
    }

    /// Time for which it has been busy up to `now`, in ns.
    pub fn busy_ns(&self, now: SimTime) -> u64 {
        self.busy_ns - self.free_at.as_ns().saturating_sub(now.as_ns())
    }

    /// Transaction `id` enters with `units` codewords, the last of which leaves `latency` after it has entered.
    /// Returns the instant the first in line leaves if that has changed.
    #[inline]
    pub fn enter(&mut self, now: SimTime, id: TxnId, units: u32, latency: Duration) -> Option<SimTime> {
        let done = self.pass(now, units, latency);
        if self.line.back().is_some_and(|(last, _)| last > done) {
            return self.overtake(done, id);
        }
        self.line.push((done, id));
        (self.line.len() == 1).then_some(done)
    }

    /// `units` codewords enter, the last of which leaves `latency` later, without a place in the queue. Returns when it leaves.
    #[inline]
    pub fn pass(&mut self, now: SimTime, units: u32, latency: Duration) -> SimTime {
        let start = self.free_at.max(now);
        let each = self.interval * u64::from(units);
        self.free_at = start + each;
        self.busy_ns += each.as_ns();
        let all_but_one = if units == 0 { Duration::ZERO } else { each - self.interval };
        start + all_but_one + latency
    }

    /// Puts `id` before those in line that leave later.
    #[cold]
    fn overtake(&mut self, done: SimTime, id: TxnId) -> Option<SimTime> {
        let mut at = self.line.len();
        self.line.push((done, id));
        while let Some(before) = at.checked_sub(1).and_then(|k| self.line.get(k)).filter(|(t, _)| *t > done) {
            self.line.set(at, before);
            at -= 1;
        }
        self.line.set(at, (done, id));
        (at == 0).then_some(done)
    }

    /// The transaction that leaves next.
    pub fn next(&self) -> Option<TxnId> {
        self.line.front().map(|(_, id)| id)
    }

    /// Takes the transaction that leaves now; returns it and when the next one leaves.
    #[inline]
    pub fn leave(&mut self, now: SimTime) -> (TxnId, Option<SimTime>) {
        let (at, id) = self.line.pop().expect("the decoder's timer is armed only for a codeword");
        debug_assert_eq!(at, now);
        (id, self.line.front().map(|(t, _)| t))
    }
}
