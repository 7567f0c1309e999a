//! Time of a die by state and activity, and by the waiting cause of the transactions behind it.

use super::{STATES, State};
use crate::command::{
    COMMANDS, Command, DIE_ACTIVITIES, DieActivity, Effect, EnergyCategory, Step, WAITS, Wait,
};
use crate::parts::power::Draw;
use interpulse_engine::SimTime;

/// State of a die with an activity. Time is booked by these pairs, so that both accounting and energy follow from one sum.
#[derive(Clone, Copy, Debug)]
pub struct Slot {
    /// The state.
    pub state: State,
    /// Activity.
    pub usage: DieActivity,
    /// Energy category.
    pub category: EnergyCategory,
    /// Currents, at first and then.
    pub(crate) draws: [Draw; 2],
    /// Effect of the command that the die is in this state for, if any.
    pub effect: Option<Effect>,
}

/// Capacity, a power of two. Time of an unknown pair goes to the last entry, and the audits report it.
const ROOM: usize = 64;

struct Collected {
    slots: [Slot; ROOM],
    count: usize,
}

impl Collected {
    const fn with(
        self,
        state: State,
        usage: DieActivity,
        category: EnergyCategory,
        effect: Option<Effect>,
    ) -> Collected {
        self.with_slot(Slot { state, usage, category, draws: state.draws(), effect })
    }

    const fn with_slot(mut self, slot: Slot) -> Collected {
        let mut k = 0;
        while k < self.count {
            let other = &self.slots[k];
            if other.state as u8 == slot.state as u8 && other.usage as u8 == slot.usage as u8 {
                assert!(other.draws[1] as u8 == slot.draws[1] as u8, "busy with one use and two currents");
                return self;
            }
            k += 1;
        }
        self.slots[k] = slot;
        self.count += 1;
        self
    }

    /// Adds the pairs of these steps of a command.
    const fn with_steps(mut self, of: &Command, steps: &[Step]) -> Collected {
        let (category, effect) = (of.category, Some(of.effect));
        let mut k = 0;
        while k < steps.len() {
            let states = steps[k].states();
            match (steps[k], &of.train) {
                (Step::Sense, _) => {
                    self = self.with(states[0], of.array, category, effect);
                    self = self.with(State::Predicting, of.array, category, effect);
                    // A retry senses while data of the step before moves.
                    self = self.with(State::Retrying, of.array, category, effect);
                    self = self.with(State::Retrying, of.bus, category, effect);
                    // Planes that read on their own do, too.
                    self = self.with(State::PlaneReads, of.array, category, effect);
                    self = self.with(State::PlaneReads, of.bus, category, effect);
                }
                (Step::Pulses, Some(train)) => {
                    self = self.with(states[0], of.array, category, effect);
                    self = self.with(states[1], train.stop, category, effect);
                }
                (Step::Pulses, None) => panic!("pulses without a train"),
                (Step::Busy(busy), _) => {
                    let (state, draws) = (states[0], [busy.draw; 2]);
                    let usage = if busy.array { of.array } else { of.bus };
                    self = self.with_slot(Slot { state, usage, category, draws, effect });
                }
                (Step::SenseSource, _) => {
                    let (state, usage, draws) = (states[0], DieActivity::SenseGc, [Draw::Sense0; 2]);
                    self = self.with_slot(Slot { state, usage, category, draws, effect });
                }
                (Step::Command | Step::Out | Step::Load, _) => {
                    let mut state = 0;
                    while state < states.len() {
                        self = self.with(states[state], of.bus, category, effect);
                        state += 1;
                    }
                }
            }
            k += 1;
        }
        // A command may wait for the power budget before it begins; it spends nothing then.
        if k > 0 { self.with(State::Held, of.bus, EnergyCategory::Idle, effect) } else { self }
    }
}

/// Pairs of idle dies, suspensions and commands.
const COLLECTED: Collected = {
    let idle = Slot {
        state: State::Idle,
        usage: DieActivity::Idle,
        category: EnergyCategory::Idle,
        draws: State::Idle.draws(),
        effect: None,
    };
    let mut all = Collected { slots: [idle; ROOM], count: 1 };
    let suspended = [State::LoadWait, State::Load, State::Entering, State::Suspended, State::Resuming];
    let mut k = 0;
    while k < suspended.len() {
        all = all.with(suspended[k], DieActivity::Suspended, EnergyCategory::Suspension, None);
        k += 1;
    }
    // A copyback senses its pages again.
    all = all.with(State::Command, DieActivity::Suspended, EnergyCategory::Suspension, None);
    all = all.with_slot(Slot {
        state: State::Busy,
        usage: DieActivity::Suspended,
        category: EnergyCategory::Suspension,
        draws: [Draw::Sense0; 2],
        effect: None,
    });
    all = all.with(State::Held, DieActivity::Suspended, EnergyCategory::Idle, None);
    all = all.with(State::Stalled, DieActivity::Idle, EnergyCategory::Idle, None);
    k = 0;
    while k < COMMANDS.len() {
        all = all.with_steps(&COMMANDS[k], COMMANDS[k].steps);
        all = all.with_steps(&COMMANDS[k], COMMANDS[k].reprogram);
        all = all.with_steps(&COMMANDS[k], COMMANDS[k].cached);
        all = all.with_steps(&COMMANDS[k], COMMANDS[k].copyback);
        k += 1;
    }
    assert!(all.count < ROOM);
    all
};

/// All pairs of state and activity.
pub static SLOTS: [Slot; COLLECTED.count] = {
    let mut slots = [COLLECTED.slots[0]; COLLECTED.count];
    let mut k = 0;
    while k < COLLECTED.count {
        slots[k] = COLLECTED.slots[k];
        k += 1;
    }
    slots
};

/// The slot of each state and use.
const SLOT: [[u8; DIE_ACTIVITIES]; STATES] = {
    let mut table = [[ROOM as u8 - 1; DIE_ACTIVITIES]; STATES];
    let mut k = 0;
    while k < COLLECTED.count {
        let of = COLLECTED.slots[k];
        table[of.state as usize][of.usage as usize] = k as u8;
        k += 1;
    }
    table
};

/// Waiting cause of each pair.
const CAUSE_OF_SLOT: [Wait; ROOM] = {
    let mut table = [Wait::Bus; ROOM];
    let mut k = 0;
    while k < COLLECTED.count {
        table[k] = COLLECTED.slots[k].usage.cause();
        k += 1;
    }
    table
};

/// The slot of a state and a use.
#[inline]
pub(super) fn slot_of(state: State, usage: DieActivity) -> u8 {
    SLOT[state as usize][usage as usize]
}

/// Cumulative time of one die by use and by waiting cause.
#[derive(Clone, Debug)]
pub struct Usage {
    causes: [u64; WAITS],
    times: [u64; ROOM],
    current: u8,
    since: SimTime,
}

impl Default for Usage {
    fn default() -> Self {
        Usage { causes: [0; WAITS], times: [0; ROOM], current: 0, since: SimTime::ZERO }
    }
}

impl Usage {
    /// Books the time up to `now` on the current use. Returns how much that was, and the cause.
    #[inline]
    pub fn settle(&mut self, now: SimTime) -> (Wait, u64) {
        let spent = now.as_ns() - self.since.as_ns();
        let slot = self.current as usize % ROOM;
        let cause = CAUSE_OF_SLOT[slot];
        self.times[slot] += spent;
        self.causes[cause as usize] += spent;
        self.since = now;
        (cause, spent)
    }

    /// Books the time up to `now`, and puts the time by cause into `reading`.
    #[inline]
    pub fn read(&mut self, now: SimTime, reading: &mut [u64; WAITS]) {
        // The whole array is read before one entry is written, which avoids a store-forwarding stall.
        *reading = self.causes;
        let (cause, spent) = self.settle(now);
        reading[cause as usize] += spent;
    }

    /// Books the time up to `now`, and makes an earlier `reading` the time by cause since then.
    #[inline]
    pub fn read_since(&mut self, now: SimTime, reading: &mut [u64; WAITS]) {
        reading.iter_mut().zip(&self.causes).for_each(|(wait, cause)| *wait = cause - *wait);
        let (cause, spent) = self.settle(now);
        reading[cause as usize] += spent;
    }

    /// Books the time up to `now` and changes state and use to those of slot `to`.
    #[inline]
    pub(super) fn switch(&mut self, now: SimTime, to: u8) {
        self.settle(now);
        self.current = to;
    }

    /// Time by waiting cause up to the last booking. The difference of two readings is the account of a transaction queued
    /// between them.
    #[inline]
    pub fn causes(&self) -> &[u64; WAITS] {
        &self.causes
    }

    /// Time by activity up to the last booking, in ns; adds up to the time of that booking.
    pub fn uses(&self) -> [u64; DIE_ACTIVITIES] {
        let mut uses = [0; DIE_ACTIVITIES];
        for (slot, time) in SLOTS.iter().zip(&self.times) {
            uses[slot.usage as usize] += time;
        }
        uses
    }

    /// Time in the order of [`SLOTS`] up to the last booking, in ns; adds up to the time of that booking.
    pub fn times(&self) -> &[u64] {
        &self.times[..SLOTS.len()]
    }
}
