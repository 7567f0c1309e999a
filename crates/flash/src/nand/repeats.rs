//! Repeated sensings of a die that predicts failing decodes.

/// Repeated sensings of a die whose reads are sensed together.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Repeats {
    /// Times that the die has repeated a sensing of its active reads.
    pub(super) times: u8,
    /// Planes whose reads the sensing under way repeats, one bit each; zero in the first sensing.
    pub(super) sensed: u64,
    /// Planes whose sensing the die takes for uncorrectable.
    pub(super) failing: u64,
}
