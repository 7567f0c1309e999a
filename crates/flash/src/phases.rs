//! What the spans of a die's timeline consist of: pulses and verifies, what of them is done again, what a suspension
//! costs. Timing diagrams are drawn from it.
//!
//! Nothing is simulated here: the spans say what the die did, the part and the configuration how that divides.

use crate::bench::{Detail, Span, Timeline};
use crate::die::{LongKind, State};
use crate::nand::NandConfig;
use crate::parts::PartSpec;
use crate::pulse::{PhaseKind, PulseTrain};
use crate::suspend::{MultiPlane, SuspendPolicy};
use interpulse_engine::{Duration, SimTime};

/// Declares what may happen on a die, with its name in results.
macro_rules! whats {
    ($($variant:ident = $name:literal : $doc:literal;)+) => {
        /// What happens on a die.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum What { $(#[doc = $doc] $variant),+ }

        impl What {
            /// Its name in results.
            pub fn name(self) -> &'static str {
                match self { $(What::$variant => $name),+ }
            }
        }
    };
}

whats! {
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
    Out = "out": "Data moves out over the bus.";
    Reload = "reload": "The page buffer gets the program's data back.";
    Resume = "resume": "The part leaves the suspension.";
}

/// A stretch of time during which one thing happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Phase {
    /// Its first instant.
    pub from: SimTime,
    /// Its end.
    pub to: SimTime,
    /// What happened.
    pub what: What,
    /// The program or erase on the die, running or suspended.
    pub long: Option<LongKind>,
    /// The train runs on to a stop that has been asked for.
    pub running_on: bool,
    /// This part of the train had been done before; a stop threw it away.
    pub again: bool,
    /// Progress of the train at the first instant; zero for what is no part of a train.
    pub progress: Duration,
}

/// Takes the spans of one die of `part` apart; programs and erases span `planes` planes.
pub fn of(timeline: &Timeline, part: &PartSpec, config: &NandConfig, planes: u32) -> Vec<Phase> {
    let mut splitter = Splitter { part, config, planes, reached: [Duration::ZERO; 2], phases: Vec::new() };
    timeline.spans.iter().for_each(|span| splitter.split(span));
    splitter.phases
}

struct Splitter<'a> {
    part: &'a PartSpec,
    config: &'a NandConfig,
    planes: u32,
    /// The most progress ever made by the program and by the erase on the die; one may be suspended beneath the other.
    reached: [Duration; 2],
    phases: Vec<Phase>,
}

impl Splitter<'_> {
    fn split(&mut self, span: &Span) {
        let from = span.from;
        let length = span.to.since(from);
        match (span.state, span.detail) {
            (State::Pulsing | State::Stopping, Detail::Pulses { train, progress, ahead }) => {
                self.pulses(span, &train, progress, ahead);
            }
            (State::Entering, _) => {
                let entry = self.entry(span.long).min(length);
                self.plain(span, &[(What::Discharge, length - entry), (What::Entry, entry)]);
            }
            (State::Resuming, Detail::Leaving { resume }) => {
                let resume = resume.min(length);
                self.plain(span, &[(What::Reload, length - resume), (What::Resume, resume)]);
            }
            (State::Sensing, _) => {
                let command = self.part.command_cycles.min(length);
                self.plain(span, &[(What::Command, command), (What::Sense, length - command)]);
            }
            (state, _) => {
                let what = match state {
                    State::Idle => What::Idle,
                    State::Command | State::OutWait | State::LoadWait => What::Bus,
                    State::Load if span.suspends > 0 => What::Reload,
                    State::Load => What::Load,
                    State::Recalling => What::Sense,
                    State::Out => What::Out,
                    State::Suspended => What::Hold,
                    other => unreachable!("spans in state {other:?} have a detail"),
                };
                self.plain(span, &[(what, length)]);
            }
        }
    }

    /// What entering a suspension takes without a discharge.
    fn entry(&self, long: Option<LongKind>) -> Duration {
        let policy: &SuspendPolicy = match long {
            Some(LongKind::Erase) => &self.config.erase_suspend,
            _ => &self.config.program_suspend,
        };
        let times = if policy.eligible.multi_plane == MultiPlane::InTurn { self.planes } else { 1 };
        policy.costs.entry * u64::from(times)
    }

    /// Parts of a span one after the other; those that take no time are left out.
    fn plain(&mut self, span: &Span, parts: &[(What, Duration)]) {
        let mut from = span.from;
        for &(what, length) in parts.iter().filter(|(_, length)| *length > Duration::ZERO) {
            self.phases.push(Phase {
                from,
                to: from + length,
                what,
                long: span.long,
                running_on: false,
                again: false,
                progress: Duration::ZERO,
            });
            from = from + length;
        }
    }

    /// The phases of a train from `progress` on, of which nothing happens for `ahead`.
    fn pulses(&mut self, span: &Span, train: &PulseTrain, progress: Duration, ahead: Duration) {
        let slot = usize::from(span.long == Some(LongKind::Erase));
        let first = span.suspends == 0;
        if first && progress == Duration::ZERO {
            self.reached[slot] = Duration::ZERO;
        }
        let running_on = span.state == State::Stopping;
        let waiting = ahead.min(span.to.since(span.from));
        let what = if first { What::Command } else { What::Ramp };
        if waiting > Duration::ZERO {
            let to = span.from + waiting;
            let progress = Duration::ZERO;
            self.phases.push(Phase {
                from: span.from,
                to,
                what,
                long: span.long,
                running_on,
                again: false,
                progress,
            });
        }
        let (mut from, mut at) = (span.from + waiting, progress);
        while from < span.to {
            let phase = train.phase_at(at);
            let again = at < self.reached[slot];
            let mut length = (phase.end - at).min(span.to.since(from));
            if again {
                length = length.min(self.reached[slot] - at);
            }
            let what = match phase.kind {
                PhaseKind::Pulse => What::Pulse,
                PhaseKind::Reset => What::Reset,
                PhaseKind::Verify => What::Verify,
            };
            let to = from + length;
            self.phases.push(Phase { from, to, what, long: span.long, running_on, again, progress: at });
            (from, at) = (from + length, at + length);
            self.reached[slot] = self.reached[slot].max(at);
        }
    }
}
