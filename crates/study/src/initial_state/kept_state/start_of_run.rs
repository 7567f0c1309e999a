//! Kept states as the start and the end of the runs of a plan.

use super::{KeptState, excluded};
use crate::config::StateFiles;
use crate::initial_state::snapshot::SnapshotError;
use crate::plan::Plan;
use std::path::Path;
use std::sync::Arc;

/// The plan whose drives start with the kept state `start` in place of `[precondition]`, and whose drive's state is written to
/// `save` at the end.
///
/// # Errors
/// For a file that is none of these drives, a device whose state cannot be kept, and several cases with one file to write.
pub fn with_state_files(
    plan: &Plan,
    start: Option<&Path>,
    save: Option<&Path>,
) -> Result<Plan, SnapshotError> {
    let mut cases = plan.cases().to_vec();
    let refuse = |path: &Path, why: String| SnapshotError::Refused { path: path.into(), why };
    if let Some(path) = save.filter(|_| cases.len() > 1) {
        let why =
            format!("{} cases have one state file; legal: one of them, chosen with --case", cases.len());
        return Err(refuse(path, why));
    }
    for case in &mut cases {
        if let Some((path, why)) = start.or(save).and_then(|path| Some((path, excluded(case)?))) {
            return Err(refuse(path, why));
        }
        let mut history = Arc::default();
        if let Some(path) = start {
            let (kept, _) = KeptState::open(case, path)?;
            case.precondition.cycles = kept.description.aged.cycles;
            (case.precondition.dispersion, case.drive.wear_before) = (None, None);
            history = Arc::new(kept.history);
        }
        case.state_files = StateFiles { start: start.map(Into::into), history, save: save.map(Into::into) };
    }
    Ok(plan.with_cases(cases))
}
