//! Transactions that wait for the end of a deterministic window.

use crate::ids::TxnId;

#[derive(Clone, Debug, Default)]
pub(super) struct HeldBack {
    pub(super) active: bool,
    /// In order of submission.
    pub(super) waiting: Vec<TxnId>,
    /// Transactions held since the start.
    pub(super) count: u64,
}
