//! The numbers of logical and physical units, cache slots, lanes and super blocks: a type for each, so that none is taken for another.

interpulse_engine::numbers! {
    /// A logical unit.
    Lpn
    /// A physical unit, numbered over the drive.
    Ppu
    /// A slot of the write cache.
    Slot
    /// A lane: planes of a die that program and erase together.
    Lane
    /// A super block, numbered over the drive.
    SuperBlock
}
