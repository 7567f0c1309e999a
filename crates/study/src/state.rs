//! The state that cases start from: restored from its snapshot, or made and kept.

use crate::config::Case;
use crate::control::Tell;
use crate::precondition::{Preconditioned, precondition};
use crate::snapshot::{self, Loading, SnapshotError};
use interpulse_drive::drive::PreconditionedState;
use std::path::Path;

/// Where states are kept.
pub struct Cache<'a> {
    /// Folder of the snapshots.
    pub folder: &'a Path,
    /// Bytes that they may take.
    pub limit: u64,
}

/// The state `hash`, which is that of `case`; `None` if `tell` said to stop. `note` takes lines for the user.
pub fn obtain(
    case: &Case,
    hash: &str,
    cache: Option<&Cache>,
    tell: &Tell,
    note: &dyn Fn(String),
) -> Option<PreconditionedState> {
    if let Some(Cache { folder, .. }) = cache
        && snapshot::path_of(folder, hash).exists()
    {
        let mut progress = |loading| match loading {
            Loading::Read(done, total) => tell("restore", done, total, "B"),
            Loading::Rebuild(done, total) => tell("rebuild maps", done, total, "blocks"),
        };
        match snapshot::load(&case.drive, folder, hash, &mut progress) {
            Ok(state) => return Some(state),
            Err(SnapshotError::Stopped) => return None,
            Err(error) => note(format!("snapshot not used: {error}; preconditioning anew")),
        }
    }
    let mut progress = |done, total| tell("precondition", done, total, "pages");
    let (state, outcome) = precondition(&case.drive, &case.precondition, &mut progress)?;
    note_unsteady(&outcome, note);
    match cache {
        Some(cache) if !keep(&state, hash, cache, tell, note) => None,
        _ => Some(state),
    }
}

fn note_unsteady(outcome: &Preconditioned, note: &dyn Fn(String)) {
    if outcome.gave_up {
        let last: Vec<String> =
            outcome.quarters.iter().rev().take(4).rev().map(|w| format!("{w:.3}")).collect();
        note(format!(
            "preconditioning did not become steady within precondition.max-drive-writes; write amplification of the \
             last quarter-drives: {}",
            last.join(", ")
        ));
    }
}

/// Saves a state, tells the user where and how large, and makes room for it. Returns false to stop.
fn keep(state: &PreconditionedState, hash: &str, cache: &Cache, tell: &Tell, note: &dyn Fn(String)) -> bool {
    let &Cache { folder, limit } = cache;
    let path = snapshot::path_of(folder, hash);
    let bytes = state.ftl.state_bytes();
    if bytes > limit {
        note(format!(
            "the preconditioned state takes {} MB, more than the cache's limit of {} MB: not kept",
            bytes / 1_000_000,
            limit / 1_000_000
        ));
        return true;
    }
    match snapshot::save(state, folder, hash, &mut |done, total| tell("snapshot", done, total, "B")) {
        Ok(size) => {
            let deleted = snapshot::trim(folder, limit, &path);
            let extra = match deleted.len() {
                0 => String::new(),
                n => format!("; {n} older one(s) deleted to keep within the limit"),
            };
            note(format!(
                "preconditioned state kept in {} ({} MB; `interpulse cache --clear` deletes it){extra}",
                path.display(),
                size.div_ceil(1_000_000)
            ));
        }
        Err(SnapshotError::Stopped) => return false,
        Err(error) => note(format!("the preconditioned state could not be kept: {error}")),
    }
    true
}
