//! Phases of a die's timeline: pulses, verifies, repeated work and suspension costs, for timing diagrams.
//!
//! Nothing is simulated here; the spans of the timeline carry the schedule that the die followed.

use crate::command::{KINDS, Kind};
use crate::die::{DiePhase, Pulses, State};
use crate::nand::phase_schedule::PhaseSchedule;
use crate::pulse::PhaseKind;
use crate::script::{Span, Timeline};
use interpulse_engine::{Duration, SimTime};

/// A period during which the die did one thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Phase {
    /// Start.
    pub from: SimTime,
    /// End.
    pub to: SimTime,
    /// Activity of the die.
    pub what: DiePhase,
    /// The program or erase on the die, running or suspended.
    pub long: Option<Kind>,
    /// The train runs to the stop point of a suspension in progress.
    pub running_on: bool,
    /// This part of the train repeats work that a suspension discarded.
    pub again: bool,
    /// Progress of the train at the start; zero outside a train.
    pub progress: Duration,
}

/// Splits the spans of a timeline into phases.
pub fn split(timeline: &Timeline) -> Vec<Phase> {
    let mut splitter = Splitter::default();
    timeline.spans.iter().for_each(|span| splitter.split(span));
    splitter.phases
}

#[derive(Default)]
struct Splitter {
    /// Largest progress of the current operation of each kind; a suspended operation may lie beneath another.
    reached: [Duration; KINDS],
    phases: Vec<Phase>,
}

impl Splitter {
    fn split(&mut self, span: &Span) {
        match span.course {
            PhaseSchedule::Plain { phases: [what, then], until, .. } => {
                let between = until.max(span.from).min(span.to);
                self.push(span, what, span.from, between);
                self.push(span, then, between, span.to);
            }
            PhaseSchedule::Train(pulses) => self.pulses(span, &pulses),
        }
    }

    /// Adds a phase outside a train, unless it is empty.
    fn push(&mut self, span: &Span, what: DiePhase, from: SimTime, to: SimTime) {
        if from < to {
            let running_on = span.state == State::Stopping;
            let (long, again, progress) = (span.long, false, Duration::ZERO);
            self.phases.push(Phase { from, to, what, long, running_on, again, progress });
        }
    }

    /// The phases of a train.
    fn pulses(&mut self, span: &Span, pulses: &Pulses) {
        self.push(span, DiePhase::Command, span.from, pulses.from.min(span.to));
        self.push(span, DiePhase::Ramp, pulses.from.max(span.from), pulses.ramped.min(span.to));
        let reached = &mut self.reached[pulses.kind as usize];
        if span.suspends == 0 && span.state == State::Pulsing {
            *reached = Duration::ZERO;
        }
        let mut from = pulses.ramped.max(span.from);
        let mut at = pulses.progress + from.since(pulses.ramped);
        while from < span.to {
            let phase = pulses.train.phase_at(at);
            let again = at < *reached;
            let mut length = (phase.end - at).min(span.to.since(from));
            if again {
                length = length.min(*reached - at);
            }
            let what = match phase.kind {
                PhaseKind::Pulse => DiePhase::Pulse,
                PhaseKind::Reset => DiePhase::Reset,
                PhaseKind::Verify => DiePhase::Verify,
            };
            let (to, long) = (from + length, span.long);
            let running_on = span.state == State::Stopping;
            self.phases.push(Phase { from, to, what, long, running_on, again, progress: at });
            (from, at) = (to, at + length);
            *reached = (*reached).max(at);
        }
    }
}
