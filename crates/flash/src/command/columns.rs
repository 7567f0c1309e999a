//! What the columns of the table may say, besides uses and spenders.

use super::uses::Use;
use crate::parts::power::Draw;

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
}

/// Number of [`Effect`] values.
pub const EFFECTS: usize = 3;

/// A step of a command on its die.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Command and address cycles on the bus.
    Command,
    /// The array is sensed.
    Sense,
    /// Data moves out over the bus.
    Out,
    /// Status and data of the word line are read into the page buffer.
    Recall,
    /// Data moves into the page buffer, page by page, behind its command and address cycles.
    Load,
    /// Pulses and verifies of its train.
    Pulses,
}

/// The pulses of a command.
#[derive(Clone, Copy, Debug)]
pub struct Train {
    /// What the die is put to while they run on to a stop.
    pub(crate) stop: Use,
    /// What pulses, voltage resets and verifies draw.
    pub draws: [Draw; 3],
}
