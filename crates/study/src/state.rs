//! The state that cases start from: restored from its snapshot, or made and kept.

use crate::config::Case;
use crate::control::Tell;
use crate::precondition::{Preconditioned, precondition};
use crate::snapshot::{self, Kept, SnapshotError};
use interpulse_drive::drive::PreconditionedState;
use std::path::Path;
use std::sync::Arc;

/// What cases start from; a copy of what is kept takes nothing.
pub enum Start {
    /// Just made. Of several, all share the larger part where they do not write; the smaller one is copied.
    Made(Box<PreconditionedState>),
    /// Its snapshot, of which each case reads the smaller part, and shares the larger one where it does not write.
    Kept(Arc<Kept>),
}

impl Clone for Start {
    fn clone(&self) -> Start {
        match self {
            Start::Made(state) => Start::Made(Box::new(state.another())),
            Start::Kept(kept) => Start::Kept(Arc::clone(kept)),
        }
    }
}

impl Start {
    /// What has just been made, for one drive or for several.
    fn made(mut state: PreconditionedState, several: bool) -> Start {
        if several {
            state.share();
        }
        Start::Made(Box::new(state))
    }

    /// The state of one case.
    pub fn state(self) -> Result<PreconditionedState, SnapshotError> {
        match self {
            Start::Made(state) => Ok(*state),
            Start::Kept(kept) => kept.state(),
        }
    }
}

/// Where states are kept.
pub struct Cache<'a> {
    /// Folder of the snapshots.
    pub folder: &'a Path,
    /// Bytes that they may take.
    pub limit: u64,
}

/// The state `hash`, which is that of `case`, for so many cases; `None` if `tell` said to stop. `note` takes lines for the
/// user.
pub fn obtain(
    case: &Case,
    hash: &str,
    cases: usize,
    cache: Option<&Cache>,
    tell: &Tell,
    note: &dyn Fn(String),
) -> Option<Start> {
    if let Some(Cache { folder, .. }) = cache
        && snapshot::path_of(folder, hash).exists()
    {
        match snapshot::open(&case.drive, folder, hash, &mut |done, total| tell("restore", done, total, "B"))
        {
            Ok(kept) => return Some(Start::Kept(Arc::new(kept))),
            Err(SnapshotError::Stopped) => return None,
            Err(error) => note(format!("snapshot not used: {error}; preconditioning anew")),
        }
    }
    let mut progress = |done, total| tell("precondition", done, total, "pages");
    let (state, outcome) = precondition(&case.drive, &case.precondition, &mut progress)?;
    note_unsteady(&outcome, note);
    // Where several drives start from it, they share what is kept, or what is made, rather than take a copy each.
    let several = cases > 1 || case.drives() > 1;
    let Some(cache) = cache else { return Some(Start::made(state, several)) };
    if !keep(&state, hash, cache, tell, note)? {
        return Some(Start::made(state, several));
    }
    let shared = several.then(|| snapshot::open(&case.drive, cache.folder, hash, &mut |_, _| true));
    Some(match shared.and_then(Result::ok) {
        Some(kept) => Start::Kept(Arc::new(kept)),
        None => Start::made(state, several),
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

/// Saves a state, tells the user where and how large, and makes room for it. Returns whether it is kept; `None` to stop.
fn keep(
    state: &PreconditionedState,
    hash: &str,
    cache: &Cache,
    tell: &Tell,
    note: &dyn Fn(String),
) -> Option<bool> {
    let &Cache { folder, limit } = cache;
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

    /// How often the file in memory that is mapped most often is, by this process.
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
        let case = read_cases(&request).expect("the configuration stands").remove(0);
        // More than any other test of this process has at a time.
        const CASES: usize = 20;
        let made =
            |cases| obtain(&case, "", cases, None, &|_, _, _, _| true, &|_| {}).expect("it was not stopped");
        let state = |start: Start| start.state().expect("it is there");
        let (alone, starts) = (state(made(1)), std::iter::repeat_n(made(CASES), CASES).collect::<Vec<_>>());
        assert_eq!(mapped(), CASES);
        assert!(
            starts
                .into_iter()
                .all(|start| state(start).block_manager().map().weight == alone.block_manager().map().weight)
        );
    }
}
