//! Blocks of a format that goes on.

use interpulse_engine::RequestId;

/// Blocks that a format has to erase.
pub(crate) struct Formatting {
    pub(super) tag: RequestId,
    /// Of each super block, whether it waits for its erase.
    pub(super) waits: Box<[bool]>,
    pub(super) left: u32,
}
