//! Phase schedule: phases of a die, and their currents, from a state change until the next event.

use crate::die::{DiePhase, Pulses, State};
use crate::parts::power::Draw;
use crate::pulse::PhaseKind;
use interpulse_engine::SimTime;

/// Phases of a die from an instant until the next event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PhaseSchedule {
    /// One phase until an instant, if that is still to come, then another.
    Plain {
        /// Phases, at first and then.
        phases: [DiePhase; 2],
        /// Currents of these phases.
        draws: [Draw; 2],
        /// The instant between them.
        until: SimTime,
    },
    /// The phases of a train.
    Train(Pulses),
}

impl PhaseSchedule {
    /// Schedule of a state whose first phase lasts until an instant.
    pub fn of(state: State, until: SimTime) -> PhaseSchedule {
        PhaseSchedule::Plain { phases: state.phases(), draws: state.draws(), until }
    }

    /// Current at `now`, and until when at the least.
    pub fn draws_at(&self, now: SimTime) -> (Draw, Option<SimTime>) {
        match *self {
            PhaseSchedule::Plain { draws, until, .. } if now < until => (draws[0], Some(until)),
            PhaseSchedule::Plain { draws, .. } => (draws[1], None),
            PhaseSchedule::Train(Pulses { from, .. }) if now < from => (Draw::Idle, Some(from)),
            PhaseSchedule::Train(Pulses { kind, train, ramped, progress, .. }) => {
                let draws = kind.train().draws;
                if now < ramped {
                    return (draws[0], Some(ramped));
                }
                let reached = progress + now.since(ramped);
                if reached >= train.total() {
                    // The train has ended; the next event is at this instant.
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
