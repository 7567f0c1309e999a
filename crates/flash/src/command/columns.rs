//! Column types of the command table, besides activities and energy categories.

use super::die_activity::DieActivity;
use crate::geometry::Timing;
use crate::parts::power::Draw;
use interpulse_engine::Duration;

/// Scheduling class of a command. Classes are served by rank, and within a class in order of submission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Class {
    /// Reads for the host.
    HostRead,
    /// Reads for garbage collection.
    GcRead,
    /// Programs of host data. Their wait is accounted when they are complete: they may be suspended.
    HostWrite,
    /// Programs of moved data.
    GcWrite,
    /// Erases.
    Erase,
}

/// Number of [`Class`] values.
pub const CLASSES: usize = 5;

impl Class {
    /// Every class.
    pub const ALL: [Class; CLASSES] =
        [Class::HostRead, Class::GcRead, Class::HostWrite, Class::GcWrite, Class::Erase];
}

/// Effect of a command on cells; it decides about suspension and pulse counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Effect {
    /// Senses them, in one go.
    Reads,
    /// Programs them with a train of pulses.
    Programs,
    /// Erases them with a train of pulses.
    Erases,
    /// No effect: no train, no suspension.
    Nothing,
}

/// Number of [`Effect`] values.
pub const EFFECTS: usize = 4;

/// A step of a command on its die.
#[derive(Clone, Copy, Debug)]
pub enum Step {
    /// Command and address cycles on the bus.
    Command,
    /// The array is sensed.
    Sense,
    /// Data moves out over the bus.
    Out,
    /// The die is busy for a time of the command's own.
    Busy(&'static Busy),
    /// Pages are sensed into the page buffer to be programmed (copyback), one on each plane.
    SenseSource,
    /// Data moves into the page buffer, page by page, behind its command and address cycles.
    Load,
    /// Pulses and verifies of its train.
    Pulses,
}

/// Time for which a command occupies its die besides pulses: the bus is free, and nothing stops the command.
#[derive(Debug)]
pub struct Busy {
    /// Current drawn.
    pub draw: Draw,
    /// Whether the time counts as array work; as bus time otherwise.
    pub array: bool,
    /// How long it lasts.
    pub time: fn(&Timing) -> Duration,
}

/// The pulses of a command.
#[derive(Clone, Copy, Debug)]
pub struct Train {
    /// Activity while the train runs on to a stop.
    pub(crate) stop: DieActivity,
    /// Current of pulses, voltage resets and verifies.
    pub draws: [Draw; 3],
}
