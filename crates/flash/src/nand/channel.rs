//! A channel: the bus shared by the dies of one chip column. One transfer at a time; commands (which start
//! long array work) go before data, data in order of request.

use interpulse_engine::{Duration, SimTime};
use std::collections::VecDeque;

/// One bus.
#[derive(Clone, Default)]
pub struct Channel {
    /// The instant until which the bus is taken.
    free_at: SimTime,
    commands: VecDeque<(u32, Duration)>,
    data: VecDeque<(u32, Duration)>,
    /// Time taken by transfers, in ns.
    pub busy_ns: u64,
}

/// The kind of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transfer {
    /// Command and address cycles.
    Command,
    /// Data.
    Data,
}

impl Channel {
    /// Takes the bus for `length` if it is free and nobody waits for it; whether it has.
    #[inline(always)]
    pub fn take_if_free(&mut self, now: SimTime, length: Duration) -> bool {
        let free = self.free_at <= now && self.is_unwanted();
        if free {
            self.take(now, length);
        }
        free
    }

    /// `die` waits for the bus for `length`, and [`Channel::grant`] will name it.
    pub fn wait(&mut self, die: u32, kind: Transfer, length: Duration) {
        match kind {
            Transfer::Command => self.commands.push_back((die, length)),
            Transfer::Data => self.data.push_back((die, length)),
        }
    }

    /// A die no longer waits for the bus.
    pub(super) fn withdraw(&mut self, die: u32) {
        self.data.retain(|&(waits, _)| waits != die);
    }

    /// The place of a die that waits is another's.
    pub(super) fn pass_on(&mut self, from: u32, to: u32) {
        self.data.iter_mut().filter(|(waits, _)| *waits == from).for_each(|(waits, _)| *waits = to);
    }

    /// Gives the free bus to the die that waits first, if any.
    pub fn grant(&mut self, now: SimTime) -> Option<u32> {
        debug_assert!(self.free_at <= now);
        let (die, length) = self.commands.pop_front().or_else(|| self.data.pop_front())?;
        self.take(now, length);
        Some(die)
    }

    /// Whether no die waits for the bus.
    #[inline]
    pub fn is_unwanted(&self) -> bool {
        self.commands.is_empty() && self.data.is_empty()
    }

    /// Power is cut: nothing moves, and nobody waits.
    pub(super) fn outage(&mut self, now: SimTime) {
        self.free_at = self.free_at.min(now);
        self.commands.clear();
        self.data.clear();
    }

    /// When the bus is free.
    #[inline]
    pub fn free_at(&self) -> SimTime {
        self.free_at
    }

    #[inline]
    fn take(&mut self, now: SimTime, length: Duration) {
        self.free_at = now + length;
        self.busy_ns += length.as_ns();
    }
}
