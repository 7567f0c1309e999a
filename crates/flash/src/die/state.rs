//! States of a die and their legal transitions.

use crate::command::{COMMANDS, Step};
use crate::parts::power::Draw;

/// Declares the phases with their names in results.
macro_rules! phases {
    ($($variant:ident = $name:literal : $doc:literal;)+) => {
        /// Phase of a die.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum DiePhase { $(#[doc = $doc] $variant),+ }

        impl DiePhase {
            /// Its name in results.
            pub fn name(self) -> &'static str {
                match self { $(DiePhase::$variant => $name),+ }
            }
        }
    };
}

phases! {
    Idle = "idle": "Nothing, until something arrives.";
    Bus = "bus": "Waiting for the bus.";
    Command = "command": "Command and address cycles.";
    Load = "load": "A page moves into the page buffer for a program.";
    Pulse = "pulse": "A program or erase pulse.";
    Reset = "reset": "The discharge of the word lines that is part of the train.";
    Verify = "verify": "The verify of a loop.";
    Ramp = "ramp": "A pulse that was stopped midway regains its voltage; no progress.";
    Discharge = "discharge": "The word lines are discharged because a phase was cancelled.";
    Entry = "entry": "The part enters the suspension.";
    Hold = "hold": "Suspended, and nothing to do.";
    Sense = "sense": "The array is sensed.";
    Predict = "predict": "The die predicts whether what it sensed can be corrected.";
    Out = "out": "Data moves out over the bus.";
    Reload = "reload": "The page buffer gets the program's data back.";
    Resume = "resume": "The part leaves the suspension.";
}

/// Declares the states: name in results; phases and currents, at first and then; legal successors besides those of commands.
macro_rules! states {
    ($($(#[doc = $doc:literal])+ $state:ident = $name:literal:
        $what:ident, $then:ident; $draw:ident, $steady:ident; [$($next:ident),*];)+) => {
        /// State of a die.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub enum State { $($(#[doc = $doc])+ $state),+ }

        /// Number of [`State`] values.
        pub const STATES: usize = [$($name),+].len();

        const NEXT: [&[State]; STATES] = [$(&[$(State::$next),*]),+];

        impl State {
            /// Its name in results.
            pub fn name(self) -> &'static str {
                [$($name),+][self as usize]
            }

            /// Phases, at first (for a time given by the operation) and then. Pulses divide by their train.
            pub fn phases(self) -> [DiePhase; 2] {
                [$([DiePhase::$what, DiePhase::$then]),+][self as usize]
            }

            /// Currents. The page type of a sensing comes from the operation, the current of a busy die from its step.
            pub(crate) const fn draws(self) -> [Draw; 2] {
                [$([Draw::$draw, Draw::$steady]),+][self as usize]
            }
        }
    };
}

states! {
    /// Nothing; accepts any operation.
    Idle = "idle": Idle, Idle; Idle, Standby; [Retrying, Held, PlaneReads, Stalled];
    /// A read or erase waits for the bus to take its command.
    Command = "command": Bus, Bus; Idle, Idle; [];
    /// The array is being sensed into the page buffer.
    Sensing = "sensing": Command, Sense; Idle, Sense0; [Command, Held, Predicting];
    /// The die predicts whether what it sensed can be corrected.
    Predicting = "predicting": Predict, Predict; Idle, Idle; [Sensing, OutWait, Command, Held];
    /// Sensed data waits for the bus.
    OutWait = "out-wait": Bus, Bus; Idle, Idle; [Command, Held];
    /// Data moves from the page buffer over the bus.
    Out = "out": Out, Out; Out, Out; [OutWait, Idle, Suspended];
    /// A program waits for the bus to load its next page.
    LoadWait = "load-wait": Bus, Bus; Idle, Idle; [];
    /// A page moves over the bus into the page buffer.
    Load = "load": Load, Load; Load, Load; [LoadWait, Resuming, Held];
    /// Pulses and verifies of a program or erase.
    Pulsing = "pulsing": Command, Pulse; Idle, Idle; [Entering, Suspended, Idle];
    /// Pulsing on to the legal stop.
    Stopping = "stopping": Command, Pulse; Idle, Idle; [Entering, Suspended];
    /// Entering a suspension.
    Entering = "entering": Discharge, Entry; Discharge, Entry; [Suspended];
    /// An operation is suspended and nothing else happens; accepts a read, and a program while only an erase
    /// is suspended.
    Suspended = "suspended": Hold, Hold; Hold, Hold; [LoadWait, Resuming, Pulsing, Retrying, Held, PlaneReads];
    /// Leaving a suspension.
    Resuming = "resuming": Reload, Resume; Reload, Resume; [Pulsing];
    /// Serving a retry sequence, whose steps may overlap.
    Retrying = "retrying": Bus, Sense; Idle, Idle; [Retrying, Idle, Suspended];
    /// Waiting for a share of the power budget.
    Held = "held": Bus, Bus; Idle, Idle; [Resuming, Pulsing, Retrying, Suspended];
    /// Busy with a program or erase otherwise than with pulses. After a suspension, a copyback has sensed its pages again.
    Busy = "busy": Sense, Sense; Idle, Idle; [Resuming, Held];
    /// Serving reads of several planes, each in a step of its own.
    PlaneReads = "plane-reads": Bus, Sense; Idle, Idle; [PlaneReads, Idle, Suspended];
    /// Serving nothing for a time, by a fault.
    Stalled = "stalled": Idle, Idle; Idle, Standby; [Idle];
}

impl Step {
    /// The states that the step passes, the first one first.
    pub(super) const fn states(self) -> &'static [State] {
        match self {
            Step::Command => &[State::Command],
            Step::Sense => &[State::Sensing],
            Step::Out => &[State::OutWait, State::Out],
            Step::Busy(_) | Step::SenseSource => &[State::Busy],
            Step::Load => &[State::LoadWait, State::Load],
            Step::Pulses => &[State::Pulsing, State::Stopping],
        }
    }
}

/// Legal successors of each state as a bit mask: those of [`NEXT`] and those of the command steps.
pub(super) const LEGAL: [u32; STATES] = {
    let mut legal = [0; STATES];
    let mut from = 0;
    while from < STATES {
        let mut k = 0;
        while k < NEXT[from].len() {
            legal[from] |= 1 << NEXT[from][k] as u32;
            k += 1;
        }
        from += 1;
    }
    let mut k = 0;
    while k < COMMANDS.len() {
        legal = led_to(legal, COMMANDS[k].steps);
        legal = led_to(legal, COMMANDS[k].reprogram);
        legal = led_to(legal, COMMANDS[k].cached);
        legal = led_to(legal, COMMANDS[k].copyback);
        k += 1;
    }
    legal
};

/// Adds the transitions of these steps. A first step other than a load may wait for the power budget.
const fn led_to(mut legal: [u32; STATES], steps: &[Step]) -> [u32; STATES] {
    let mut k = 0;
    while k < steps.len() {
        let states = steps[k].states();
        let first = 1 << states[0] as u32;
        if k > 0 {
            let before = steps[k - 1].states();
            legal[before[before.len() - 1] as usize] |= first;
        } else {
            legal[State::Idle as usize] |= first;
            legal[State::Suspended as usize] |= first;
            if !matches!(steps[0], Step::Load) {
                legal[State::Held as usize] |= first;
            }
        }
        if states.len() > 1 {
            legal[states[0] as usize] |= 1 << states[1] as u32;
        }
        k += 1;
    }
    // The end of pulses, and their suspension, are in the row of the state.
    if k > 0 && !matches!(steps[k - 1], Step::Pulses) {
        let last = steps[k - 1].states();
        legal[last[last.len() - 1] as usize] |= 1 << State::Idle as u32 | 1 << State::Suspended as u32;
    }
    legal
}
