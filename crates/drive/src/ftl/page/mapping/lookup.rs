//! Result of a look-up of map entries.

/// Result of a look-up of map entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lookup {
    /// All entries are in memory.
    Hit,
    /// The translation page with this number has to be read from flash first.
    Miss(u32),
}
