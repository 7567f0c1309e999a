//! The numbers of dies: a type, so that none is taken for a plane or a block.

interpulse_engine::numbers! {
    /// A die, numbered over the flash array.
    DieId
}
