//! Channel: bus shared by the dies of one chip column, one transfer at a time. Transfers of one kind go in order of request.

use crate::ids::DieId;
use interpulse_engine::{Duration, SimTime};
use interpulse_settings::choices;
use std::collections::VecDeque;

choices! {
    /// Which of the transfers that wait for a channel goes next.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum ChannelOrder {
        /// commands before data, because they start long array work
        CommandsFirst = "commands-first",
        /// data before commands, as MQSim does: a die that waits with its data takes no next command
        DataFirst = "data-first",
        /// in order of request
        Arrival = "arrival",
    }
}

/// One bus.
#[derive(Clone)]
pub struct Channel {
    order: ChannelOrder,
    /// The instant until which the bus is taken.
    free_at: SimTime,
    /// Commands that wait; with [`ChannelOrder::Arrival`] they are among `data`.
    commands: VecDeque<(Waiter, Duration)>,
    data: VecDeque<(Waiter, Duration)>,
    /// Time taken by transfers, in ns.
    pub busy_ns: u64,
}

/// Who waits for a bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiter {
    /// The die.
    pub die: DieId,
    /// What of the die.
    pub port: Port,
}

/// The part of a die that uses a bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Port {
    /// The die, for its own transfer.
    Die,
    /// Its cache register, beside what the die itself does.
    Register,
    /// One of the planes that read independently.
    Plane(u8),
}

impl Waiter {
    /// A die, for its own transfer.
    pub fn die(die: DieId) -> Waiter {
        Waiter { die, port: Port::Die }
    }

    /// The cache register of a die.
    pub fn register(die: DieId) -> Waiter {
        Waiter { die, port: Port::Register }
    }

    /// A plane of a die.
    pub fn plane(die: DieId, plane: u8) -> Waiter {
        Waiter { die, port: Port::Plane(plane) }
    }
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
    /// Free bus that serves its waiters in this order.
    pub fn new(order: ChannelOrder) -> Channel {
        Channel {
            order,
            free_at: SimTime::ZERO,
            commands: VecDeque::new(),
            data: VecDeque::new(),
            busy_ns: 0,
        }
    }

    /// Takes the bus for `length` if it is free and has no waiter; returns whether it has.
    #[inline(always)]
    pub fn take_if_free(&mut self, now: SimTime, length: Duration) -> bool {
        let free = self.free_at <= now && self.has_no_waiters();
        if free {
            self.take(now, length);
        }
        free
    }

    /// Queues `waiter` for the bus for `length`.
    pub fn wait(&mut self, waiter: Waiter, kind: Transfer, length: Duration) {
        match kind {
            Transfer::Command if self.order != ChannelOrder::Arrival => {
                self.commands.push_back((waiter, length))
            }
            Transfer::Command | Transfer::Data => self.data.push_back((waiter, length)),
        }
    }

    /// Removes a waiter.
    pub(super) fn withdraw(&mut self, waiter: Waiter) {
        self.data.retain(|&(waits, _)| waits != waiter);
    }

    /// Replaces a waiter in its place.
    pub(super) fn pass_on(&mut self, from: Waiter, to: Waiter) {
        self.data.iter_mut().filter(|(waits, _)| *waits == from).for_each(|(waits, _)| *waits = to);
    }

    /// Gives the free bus to the one that waits first, if any.
    pub fn grant(&mut self, now: SimTime) -> Option<Waiter> {
        debug_assert!(self.free_at <= now);
        let (first, then) = match self.order {
            ChannelOrder::CommandsFirst => (&mut self.commands, &mut self.data),
            ChannelOrder::DataFirst | ChannelOrder::Arrival => (&mut self.data, &mut self.commands),
        };
        let (waiter, length) = first.pop_front().or_else(|| then.pop_front())?;
        self.take(now, length);
        Some(waiter)
    }

    /// Whether no die waits for the bus.
    #[inline]
    pub fn has_no_waiters(&self) -> bool {
        self.commands.is_empty() && self.data.is_empty()
    }

    /// Cuts the power: no transfer and no waiter is left.
    pub(super) fn outage(&mut self, now: SimTime) {
        self.free_at = self.free_at.min(now);
        self.commands.clear();
        self.data.clear();
    }

    /// The bus is not granted from the end of its transfer, or `now`, up to `until`; returns these instants.
    pub(super) fn stall(&mut self, now: SimTime, until: SimTime) -> (SimTime, SimTime) {
        let from = self.free_at.max(now);
        self.free_at = from.max(until);
        (from, self.free_at)
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
