//! What the spans of a die's timeline consist of: pulses and verifies, what of them is done again, what a suspension
//! costs. Timing diagrams are drawn from it.
//!
//! Nothing is simulated here: the spans say what the die did, the part and the configuration how that divides.

use crate::bench::{Detail, Span, Timeline};
use crate::command::{KINDS, Kind};
use crate::die::{State, What};
use crate::nand::NandConfig;
use crate::parts::PartSpec;
use crate::pulse::{PhaseKind, PulseTrain};
use crate::suspend::MultiPlane;
use interpulse_engine::{Duration, SimTime};

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
    pub long: Option<Kind>,
    /// The train runs on to a stop that has been asked for.
    pub running_on: bool,
    /// This part of the train had been done before; a stop threw it away.
    pub again: bool,
    /// Progress of the train at the first instant; zero for what is no part of a train.
    pub progress: Duration,
}

/// Takes the spans of one die of `part` apart; programs and erases span `planes` planes.
pub fn of(timeline: &Timeline, part: &PartSpec, config: &NandConfig, planes: u32) -> Vec<Phase> {
    let mut splitter =
        Splitter { part, config, planes, reached: [Duration::ZERO; KINDS], phases: Vec::new() };
    timeline.spans.iter().for_each(|span| splitter.split(span));
    splitter.phases
}

struct Splitter<'a> {
    part: &'a PartSpec,
    config: &'a NandConfig,
    planes: u32,
    /// The most progress ever made by the operation of each kind on the die; one may be suspended beneath another.
    reached: [Duration; KINDS],
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
            (State::Load, _) if span.suspends > 0 => {
                self.plain(span, [What::Load, What::Reload], Duration::ZERO)
            }
            (state, detail) => {
                let first = match (state, detail) {
                    (State::Entering, _) => length.saturating_sub(self.entry(span.long)),
                    (_, Detail::Leaving { resume }) => length.saturating_sub(resume),
                    (State::Sensing, _) => self.part.command_cycles.min(length),
                    _ => Duration::ZERO,
                };
                self.plain(span, state.whats(), first);
            }
        }
    }

    /// What entering a suspension takes without a discharge.
    fn entry(&self, long: Option<Kind>) -> Duration {
        let effect = long.expect("an operation is suspended").command().effect;
        let policy = self.config.suspend_policy(effect);
        let times = if policy.eligible.multi_plane == MultiPlane::InTurn { self.planes } else { 1 };
        policy.costs.entry * u64::from(times)
    }

    /// Two parts of a span, the first of which takes so long; one that takes no time is left out.
    fn plain(&mut self, span: &Span, [what, then]: [What; 2], first: Duration) {
        let mut from = span.from;
        let parts = [(what, first), (then, span.to.since(from) - first)];
        for (what, length) in parts.into_iter().filter(|(_, length)| *length > Duration::ZERO) {
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
        let slot = span.long.expect("an operation pulses") as usize;
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
