//! State of a drive at the end of a run, in a file.

use super::excluded;
use crate::config::Case;
use crate::run::RunFailure;
use crate::run_target::RunTarget;
use interpulse_host::{Clock, Observer, Stepper};
use std::path::Path;

/// Ends the work that the flash array has begun and writes the state of the drive of `case` to `path`. The run is closed.
pub fn save<D: RunTarget, O: Observer, C: Clock>(
    case: &Case,
    stepper: &mut Stepper<D, O, C>,
    path: &Path,
) -> Result<(), RunFailure> {
    if let Some(why) = excluded(case) {
        return Err(RunFailure::User(why));
    }
    while stepper.host.device.drives()[0].operations(&stepper.events) > 0 {
        let Some(next) = stepper.next_at() else { break };
        stepper.run_until(next)?;
    }
    let drive = &stepper.host.device.drives()[0];
    let state = drive.parked_state().map_err(RunFailure::User)?;
    let history = drive.history_after(&case.state_files.history, stepper.events.now());
    let saved = super::save(&state, &history, case, path);
    saved.map(drop).map_err(|error| RunFailure::User(error.to_string()))
}
