//! Initial state of cases: restored from a snapshot, or preconditioned and stored.

pub mod kept_state;
mod overwrites;
mod own_files;
pub mod precondition;
pub mod snapshot;
mod stale_files;

use crate::config::Case;
use crate::control::ProgressFn;
use interpulse_drive::{FtlState, PreconditionedState};
use precondition::{Preconditioned, precondition};
use snapshot::{Snapshot, SnapshotError};
use std::path::Path;
use std::sync::Arc;

/// Initial state of a drive; a clone shares memory.
pub enum InitialState {
    /// Built in this process. Clones share the larger part copy-on-write and copy the smaller one.
    Built(Box<PreconditionedState>),
    /// Stored in a snapshot. Each case reads the smaller part and maps the larger one copy-on-write.
    Stored(Arc<Snapshot>),
}

impl Clone for InitialState {
    fn clone(&self) -> InitialState {
        match self {
            InitialState::Built(state) => InitialState::Built(Box::new(state.another())),
            InitialState::Stored(kept) => InitialState::Stored(Arc::clone(kept)),
        }
    }
}

impl InitialState {
    /// Wraps a new state for one drive or several.
    fn built(mut state: PreconditionedState, several: bool) -> InitialState {
        if several {
            state.share();
        }
        InitialState::Built(Box::new(state))
    }

    /// The state of one case.
    pub fn state(self) -> Result<PreconditionedState, SnapshotError> {
        match self {
            InitialState::Built(state) => Ok(*state),
            InitialState::Stored(kept) => kept.state(),
        }
    }
}

/// Snapshot cache.
pub struct SnapshotCache<'a> {
    /// Folder of the snapshots.
    pub folder: &'a Path,
    /// Size limit in bytes.
    pub limit: u64,
}

/// Loads or builds state `hash` of `case` for `cases` cases; `None` if `progress` requests a stop. `note` takes
/// notes for the user.
pub fn load_or_build(
    case: &Case,
    hash: &str,
    cases: usize,
    cache: Option<&SnapshotCache>,
    progress: &ProgressFn,
    note: &dyn Fn(String),
) -> Option<InitialState> {
    if let Some(SnapshotCache { folder, .. }) = cache
        && snapshot::path_of(folder, hash).exists()
    {
        match snapshot::open(&case.drive, folder, hash, &mut |done, total| {
            progress("restore", done, total, "B")
        }) {
            Ok(kept) => return Some(InitialState::Stored(Arc::new(kept))),
            Err(SnapshotError::Stopped) => return None,
            Err(error) => note(format!("snapshot not used: {error}; preconditioning anew")),
        }
    }
    let mut pages = |done, total| progress("precondition", done, total, "pages");
    let (state, outcome) = precondition(&case.drive, &case.precondition, &mut pages)?;
    note_unsteady(&outcome, note);
    // Several drives share the snapshot or the built state instead of copying it.
    let several = cases > 1 || case.drives() > 1;
    let Some(cache) = cache else { return Some(InitialState::built(state, several)) };
    if !keep(&state, hash, cache, progress, note)? {
        return Some(InitialState::built(state, several));
    }
    let shared = several.then(|| snapshot::open(&case.drive, cache.folder, hash, &mut |_, _| true));
    Some(match shared.and_then(Result::ok) {
        Some(kept) => InitialState::Stored(Arc::new(kept)),
        None => InitialState::built(state, several),
    })
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

/// Saves a state, reports path and size, and trims the cache. Returns whether the state was stored; `None` to stop.
fn keep(
    state: &PreconditionedState,
    hash: &str,
    cache: &SnapshotCache,
    progress: &ProgressFn,
    note: &dyn Fn(String),
) -> Option<bool> {
    let &SnapshotCache { folder, limit } = cache;
    let path = snapshot::path_of(folder, hash);
    let bytes = state.bytes(0);
    if bytes > limit {
        note(format!(
            "the preconditioned state takes {} MB, more than the cache's limit of {} MB: not kept",
            bytes / 1_000_000,
            limit / 1_000_000
        ));
        return Some(false);
    }
    match snapshot::save(state, folder, hash, &mut |done, total| progress("snapshot", done, total, "B")) {
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
            Some(true)
        }
        Err(SnapshotError::Stopped) => None,
        Err(error) => {
            note(format!("the preconditioned state could not be kept: {error}"));
            Some(false)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{PlanRequest, read_cases};
    use std::collections::BTreeMap;

    /// Mappings of the most mapped memory file of this process.
    fn mapped() -> usize {
        let mut of = BTreeMap::<String, usize>::new();
        let maps = std::fs::read_to_string("/proc/self/maps").expect("Linux says what is mapped");
        for line in maps.lines().filter(|line| line.contains("memfd:interpulse-state")) {
            *of.entry(line.split_whitespace().nth(4).expect("an inode").into()).or_default() += 1;
        }
        of.into_values().max().unwrap_or(0)
    }

    #[test]
    fn cases_share_a_state_that_is_not_kept() {
        let text = "drive = \"a4-mini\"\n[run]\nrequests = 1\n[[flow]]\n".to_string();
        let request = PlanRequest { text, path: "x".into(), ..PlanRequest::default() };
        let case = read_cases(&request).expect("a legal configuration").remove(0);
        // More than any other test of this process uses at a time.
        const CASES: usize = 20;
        let made = |cases| {
            load_or_build(&case, "", cases, None, &|_, _, _, _| true, &|_| {}).expect("it was not stopped")
        };
        let state = |start: InitialState| start.state().expect("it is there");
        let (alone, starts) = (state(made(1)), std::iter::repeat_n(made(CASES), CASES).collect::<Vec<_>>());
        assert_eq!(mapped(), CASES);
        assert!(
            starts
                .into_iter()
                .all(|start| state(start).block_manager().map().weight == alone.block_manager().map().weight)
        );
    }
}
