//! What the columns of the table may say, besides uses and spenders.

use super::uses::Use;
use crate::geometry::Timing;
use crate::parts::power::Draw;
use interpulse_engine::Duration;

/// In whose line a command waits. Lines are served by rank, and within a line by order of submission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Class {
    /// Reads for the host.
    HostRead,
    /// Reads for garbage collection.
    GcRead,
    /// Programs of host data. What they wait for is told when they are complete: they may be stopped for others.
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

/// What a command does to cells; who may stop it, and what is counted of its pulses, follows from that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Effect {
    /// Senses them, in one go.
    Reads,
    /// Programs them with a train of pulses.
    Programs,
    /// Erases them with a train of pulses.
    Erases,
    /// Leaves them as they are: it has no train, and nothing stops it.
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
    /// Data moves into the page buffer, page by page, behind its command and address cycles.
    Load,
    /// Pulses and verifies of its train.
    Pulses,
}

/// A time for which a command has its die besides pulses: the bus is free, and nothing stops it.
#[derive(Debug)]
pub struct Busy {
    /// What is drawn meanwhile.
    pub draw: Draw,
    /// Whether the array is at work: what the die is put to meanwhile, its pulses or what waits for the bus.
    pub array: bool,
    /// How long it lasts.
    pub time: fn(&Timing) -> Duration,
}

/// The pulses of a command.
#[derive(Clone, Copy, Debug)]
pub struct Train {
    /// What the die is put to while they run on to a stop.
    pub(crate) stop: Use,
    /// What pulses, voltage resets and verifies draw.
    pub draws: [Draw; 3],
}
