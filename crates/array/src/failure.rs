//! Failures: lost drives, uncorrectable pages, rebuild and scrub.

pub mod background_sync;
pub(crate) mod drive_failures;
mod failure_handling;
mod media_errors;
pub(crate) mod mirror_resync;
mod resync_copying;
mod sync_progress;
