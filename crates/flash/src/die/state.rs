//! What a die may be doing, and what may follow what.

/// What a die is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum State {
    /// Nothing; accepts any operation.
    Idle,
    /// A read or erase waits for the bus to take its command.
    Command,
    /// The array is being sensed into the page buffer.
    Sensing,
    /// Sensed data waits for the bus.
    OutWait,
    /// Data moves from the page buffer over the bus.
    Out,
    /// A program waits for the bus to load its next page.
    LoadWait,
    /// A page moves over the bus into the page buffer.
    Load,
    /// Pulses and verifies of a program or erase.
    Pulsing,
    /// Pulsing on to the legal stop.
    Stopping,
    /// Entering a suspension.
    Entering,
    /// An operation is suspended and nothing else happens; accepts a read, and a program while only an erase
    /// is suspended.
    Suspended,
    /// Leaving a suspension.
    Resuming,
    /// Repeating a read whose decode has failed: the steps of its retry, one after another or overlapping.
    Retrying,
    /// What comes next waits for a share of the power budget.
    Held,
    /// Status and data of the word line are read before it is reprogrammed.
    Recalling,
}

/// Number of [`State`] values.
pub const STATES: usize = 15;

/// Which states may follow each state, in the order of [`State`].
const NEXT: [&[State]; STATES] = {
    use State::*;
    [
        &[Command, LoadWait, Retrying, Held, Recalling],
        &[Sensing, Pulsing],
        &[OutWait],
        &[Out],
        &[OutWait, Idle, Suspended],
        &[Load],
        &[LoadWait, Pulsing, Resuming, Held],
        &[Stopping, Entering, Suspended, Idle],
        &[Entering, Suspended],
        &[Suspended],
        &[Command, LoadWait, Resuming, Pulsing, Retrying, Held, Recalling],
        &[Pulsing],
        &[Retrying, Idle, Suspended],
        &[Command, Resuming, Pulsing, Retrying, Suspended, Recalling],
        &[LoadWait],
    ]
};

/// The same as a mask for each state, one bit for each that may follow.
pub(super) const LEGAL: [u16; STATES] = {
    let mut table = [0; STATES];
    let mut from = 0;
    while from < STATES {
        let mut k = 0;
        while k < NEXT[from].len() {
            table[from] |= 1 << NEXT[from][k] as u16;
            k += 1;
        }
        from += 1;
    }
    table
};
