//! Suspension of a served drive: changes while it runs, each at an instant of drive time.

use interpulse_embed::{SimTime, Suspension};

/// Keys with their values, as overrides of the command line.
pub type Settings = Vec<(String, String)>;

/// A change that the drive has not made.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// What becomes of the suspension.
    pub suspension: Suspension,
    /// The keys that change.
    pub settings: Settings,
}

/// A change that the drive has made.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// When, in drive time.
    pub at: SimTime,
    /// The keys that changed.
    pub settings: Settings,
    /// Scheme of programs from then on.
    pub program: &'static str,
    /// Scheme of erases from then on.
    pub erase: &'static str,
}

/// Suspension in a view.
#[derive(Clone, Debug, PartialEq)]
pub struct SuspensionView {
    /// Scheme of programs.
    pub program: &'static str,
    /// Scheme of erases.
    pub erase: &'static str,
    /// Changes of the session, in order.
    pub changes: Vec<Change>,
}

/// Why a change was not made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotChanged {
    /// It is not legal.
    #[error("{0}")]
    Refused(String),
    /// The drive has ended.
    #[error("the drive has ended")]
    Ended,
}
