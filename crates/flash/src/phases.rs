//! What the spans of a die's timeline consist of: pulses and verifies, what of them is done again, what a suspension
//! costs. Timing diagrams are drawn from it.
//!
//! Nothing is simulated here: a span says what course the die took, and how far.

use crate::command::{KINDS, Kind};
use crate::die::{Pulses, State, What};
use crate::nand::course::Course;
use crate::pulse::PhaseKind;
use crate::script::{Span, Timeline};
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

/// Takes the spans of a timeline apart.
pub fn of(timeline: &Timeline) -> Vec<Phase> {
    let mut splitter = Splitter::default();
    timeline.spans.iter().for_each(|span| splitter.split(span));
    splitter.phases
}

#[derive(Default)]
struct Splitter {
    /// The most progress ever made by the operation of each kind on the die; one may be suspended beneath another.
    reached: [Duration; KINDS],
    phases: Vec<Phase>,
}

impl Splitter {
    fn split(&mut self, span: &Span) {
        match span.course {
            Course::Plain { whats: [what, then], until, .. } => {
                let between = until.max(span.from).min(span.to);
                self.push(span, what, span.from, between);
                self.push(span, then, between, span.to);
            }
            Course::Train(pulses) => self.pulses(span, &pulses),
        }
    }

    /// What happens in a part of a span and is no part of a train; nothing, if the part takes no time.
    fn push(&mut self, span: &Span, what: What, from: SimTime, to: SimTime) {
        if from < to {
            let running_on = span.state == State::Stopping;
            let (long, again, progress) = (span.long, false, Duration::ZERO);
            self.phases.push(Phase { from, to, what, long, running_on, again, progress });
        }
    }

    /// The phases of a train.
    fn pulses(&mut self, span: &Span, pulses: &Pulses) {
        self.push(span, What::Command, span.from, pulses.from.min(span.to));
        self.push(span, What::Ramp, pulses.from.max(span.from), pulses.ramped.min(span.to));
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
                PhaseKind::Pulse => What::Pulse,
                PhaseKind::Reset => What::Reset,
                PhaseKind::Verify => What::Verify,
            };
            let (to, long) = (from + length, span.long);
            let running_on = span.state == State::Stopping;
            self.phases.push(Phase { from, to, what, long, running_on, again, progress: at });
            (from, at) = (to, at + length);
            *reached = (*reached).max(at);
        }
    }
}
