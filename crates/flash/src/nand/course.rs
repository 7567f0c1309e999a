//! What a die does from a change of its state on, if nothing else happens to it: phase by phase, with what each draws.

use crate::die::{Pulses, State, What};
use crate::parts::power::Draw;
use crate::pulse::PhaseKind;
use interpulse_engine::SimTime;

/// What a die does from an instant on, until something else happens to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Course {
    /// One thing until an instant, if that is still to come, then another.
    Plain {
        /// What happens, at first and then.
        whats: [What; 2],
        /// What is drawn meanwhile.
        draws: [Draw; 2],
        /// The instant between them.
        until: SimTime,
    },
    /// The phases of a train.
    Train(Pulses),
}

impl Course {
    /// The course of a state that begins with something else until an instant.
    pub fn of(state: State, until: SimTime) -> Course {
        Course::Plain { whats: state.whats(), draws: state.draws(), until }
    }

    /// What is drawn for at `now`, and until when at the least.
    pub fn draws_at(&self, now: SimTime) -> (Draw, Option<SimTime>) {
        match *self {
            Course::Plain { draws, until, .. } if now < until => (draws[0], Some(until)),
            Course::Plain { draws, .. } => (draws[1], None),
            Course::Train(Pulses { from, .. }) if now < from => (Draw::Idle, Some(from)),
            Course::Train(Pulses { kind, train, ramped, progress, .. }) => {
                let draws = kind.train().draws;
                if now < ramped {
                    return (draws[0], Some(ramped));
                }
                let reached = progress + now.since(ramped);
                if reached >= train.total() {
                    // Over; what comes next happens at this instant.
                    return (draws[0], None);
                }
                let phase = train.phase_at(reached);
                let draw = match phase.kind {
                    PhaseKind::Pulse => draws[0],
                    PhaseKind::Reset => draws[1],
                    PhaseKind::Verify => draws[2],
                };
                (draw, Some(now + (phase.end - reached)))
            }
        }
    }
}
