//! Typed numbers of units, slots, lanes, super blocks and FTL operations.

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
    /// A program operation of the FTL.
    JobId
    /// A page read of garbage collection.
    GcReadId
    /// Group of metadata being written.
    GroupId
    /// A translation page: consecutive map entries that are on flash together.
    TranslationPage
    /// Reads of the read cache: those of a request, or a page read ahead.
    FillId
}
