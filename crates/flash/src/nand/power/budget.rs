//! Budget of VDDcore current: sensing and pulses start only when their current fits.
//!
//! Every die may draw its current at rest without a grant, and one die of each channel that of a transfer; the rest of the
//! budget is granted. A read requests a grant before its command, an erase before its command, a program before its first
//! pulse, a suspended operation before it resumes. The request is the largest current up to the end of the sensing, of the
//! retry sequence, or of the run of pulses with the entry into a suspension. No die holds a grant while it waits for
//! another, and grants are given in order of request, so that no die starves. Reads that a suspension serves without a
//! budget are served while the operation waits to resume, so that no resume is granted only to be undone.

use super::config::PowerConfig;
use crate::command::{KINDS, Kind};
use crate::parts::power::{Draw, PowerSpec};
use interpulse_engine::{Current, Duration, SimTime};
use std::collections::VecDeque;

/// Work that a grant is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// The active reads.
    Read,
    /// The retries of a read whose first decode has failed, to the end of its sequence.
    Retry,
    /// The next step of the program or erase on it, and those that follow, to the end of its pulses.
    Step,
    /// Leaving the suspension, after the page buffer has been loaded again for so long.
    Resume(Duration),
}

/// Currents that need no grant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Ungranted {
    /// The most that a die draws at rest.
    rest: u64,
    /// What a transfer adds to that.
    transfer: u64,
}

impl Ungranted {
    fn of(part: &PowerSpec, buffer_setup: Duration) -> Ungranted {
        let most = |draws: &[Draw]| {
            draws.iter().map(|&draw| part.current(draw).as_ua()).max().expect("there is a draw")
        };
        // The bus is free while a page buffer is set up, so any number of dies may do that.
        let setup = if buffer_setup > Duration::ZERO { Draw::Load } else { Draw::Idle };
        let rest = most(&[Draw::Standby, Draw::Idle, Draw::Hold, setup]);
        Ungranted { rest, transfer: most(&[Draw::Load, Draw::Out]).saturating_sub(rest) }
    }

    fn total(self, dies: u32, channels: u32) -> u64 {
        self.rest * u64::from(dies) + self.transfer * u64::from(channels)
    }
}

/// The most that the pulses of each command, and their suspensions, draw between a grant and its return; none without
/// pulses.
fn of_trains(part: &PowerSpec) -> [u64; KINDS] {
    let suspension = [Draw::Discharge, Draw::Entry, Draw::Reload, Draw::Resume];
    Kind::ALL.map(|kind| {
        let Some(train) = kind.command().train else { return 0 };
        let draws = train.draws.into_iter().chain(suspension);
        draws.map(|draw| part.current(draw).as_ua()).max().unwrap_or(0)
    })
}

/// Smallest budget with which an array of `dies` dies on `channels` channels can run each operation alone. `page_types` is
/// the number of page types of the part.
pub fn least(
    part: &PowerSpec,
    buffer_setup: Duration,
    page_types: usize,
    dies: u32,
    channels: u32,
) -> Current {
    let ungranted = Ungranted::of(part, buffer_setup);
    let sensing = (0..page_types).map(|k| part.current(Draw::sense(k)).as_ua()).max().unwrap_or(0);
    let active = of_trains(part).into_iter().fold(sensing, u64::max);
    Current(ungranted.total(dies, channels) + active.saturating_sub(ungranted.rest))
}

/// Waits of dies for the budget.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waits {
    /// How often a die waited.
    pub count: u64,
    /// For how long in all, in ns.
    pub total: u64,
    /// The longest wait.
    pub longest: Duration,
    /// For how long at least one die waited, in ns.
    pub contended: u64,
}

/// The budget of one array.
#[derive(Clone)]
pub struct Budget {
    /// What a die may draw without a grant.
    rest: u64,
    trains: [u64; KINDS],
    /// Current left to grant, in uA.
    left: u64,
    /// The grant of each die.
    held: Vec<u64>,
    /// Waiting dies: number, work, amount, since when.
    waiting: VecDeque<(u32, Next, u64, SimTime)>,
    /// Since when, within the measurement window, at least one die waits.
    contended_since: SimTime,
    /// The waits that ended in the measurement window.
    waits: Waits,
}

impl Budget {
    /// The budget that `config` gives to `dies` dies on `channels` channels. Panics if it is less than [`least`].
    pub fn new(
        config: &PowerConfig,
        part: &PowerSpec,
        setup: Duration,
        dies: u32,
        channels: u32,
    ) -> Option<Budget> {
        let ungranted = Ungranted::of(part, setup);
        let left = config.budget?.as_ua().checked_sub(ungranted.total(dies, channels));
        Some(Budget {
            rest: ungranted.rest,
            trains: of_trains(part),
            left: left.expect("the budget has been checked"),
            held: vec![0; dies as usize],
            waiting: VecDeque::new(),
            contended_since: SimTime::ZERO,
            waits: Waits::default(),
        })
    }

    /// Starts a measurement window.
    pub fn begin_window(&mut self, now: SimTime) {
        (self.waits, self.contended_since) = (Waits::default(), now);
    }

    /// Waits that ended in the window up to now, and the time in it with a waiting die.
    pub fn waits(&self, now: SimTime) -> Waits {
        let open = if self.waiting.is_empty() { 0 } else { now.since(self.contended_since).as_ns() };
        Waits { contended: self.waits.contended + open, ..self.waits }
    }

    /// Request for the pulses of a command.
    pub fn train(&self, kind: Kind) -> u64 {
        self.trains[kind as usize].saturating_sub(self.rest)
    }

    /// Request for sensing at `current`.
    pub fn sensing(&self, current: Current) -> u64 {
        current.as_ua().saturating_sub(self.rest)
    }

    /// Die `d` requests `amount`; if it has to wait, [`Budget::next`] returns it later.
    pub fn ask(&mut self, now: SimTime, d: u32, next: Next, amount: u64) -> bool {
        debug_assert_eq!(self.held[d as usize], 0, "die {d} asks while it holds a grant");
        if self.waiting.is_empty() && amount <= self.left {
            self.grant(d, amount);
            return true;
        }
        if self.waiting.is_empty() {
            self.contended_since = now;
        }
        self.waiting.push_back((d, next, amount, now));
        false
    }

    /// Whether die `d` waits to resume a suspended operation.
    pub fn waits_to_resume(&self, d: u32) -> bool {
        self.waiting.iter().any(|&(die, next, _, _)| die == d && matches!(next, Next::Resume(_)))
    }

    /// Die `d` no longer asks.
    pub fn withdraw(&mut self, now: SimTime, d: u32) {
        self.waits.contended = self.waits(now).contended;
        self.contended_since = now;
        self.waiting.retain(|&(die, _, _, _)| die != d);
    }

    /// Die `d` gives back what it holds, if anything.
    pub fn release(&mut self, d: u32) {
        self.left += std::mem::take(&mut self.held[d as usize]);
    }

    /// Grants the first waiting die its request if it fits; returns the die and its wait.
    pub fn next(&mut self, now: SimTime) -> Option<(u32, Next, Duration)> {
        let &(d, next, amount, since) = self.waiting.front()?;
        if amount > self.left {
            return None;
        }
        self.waits.contended = self.waits(now).contended;
        self.contended_since = now;
        self.waiting.pop_front();
        self.grant(d, amount);
        let waited = now.since(since);
        self.waits.count += 1;
        self.waits.total += waited.as_ns();
        self.waits.longest = self.waits.longest.max(waited);
        Some((d, next, waited))
    }

    fn grant(&mut self, d: u32, amount: u64) {
        self.left -= amount;
        self.held[d as usize] = amount;
    }
}
