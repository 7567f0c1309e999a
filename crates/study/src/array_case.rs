//! Runs cases with an array: the drives, the array over them, the run, the result.

use crate::config::Case;
use crate::report;
use crate::run::{self, RunFailure};
use interpulse_array::array::Array;
use interpulse_drive::drive::PreconditionedState;
use interpulse_engine::{Agenda, Duration, SimTime};
use serde_json::Value;

/// The array of a case, and the agenda for it. All drives start from `state`, but for those that take lost ones'
/// places, which are new.
pub fn build(case: &Case, state: PreconditionedState) -> Result<(Array, Agenda), RunFailure> {
    let spec = case.array.expect("the case has an array");
    let built = Array::assemble(spec, &case.drive, &case.flows, state, case.seed);
    built.map_err(|e| RunFailure::User(e.to_string()))
}

/// Runs one case.
pub fn run_case(
    case: &Case,
    state: PreconditionedState,
    progress: &mut dyn FnMut(u64, Duration) -> bool,
) -> Result<Value, RunFailure> {
    let spec = case.array.expect("the case has an array");
    let (mut array, mut agenda) = build(case, state)?;
    if let Some(failure) =
        spec.failures.into_iter().flatten().find(|f| SimTime::ZERO + f.at > agenda.horizon())
    {
        return Err(RunFailure::User(format!(
            "array.fail-at = {} is later than the {} that an array of this size can simulate",
            failure.at,
            agenda.horizon()
        )));
    }
    let cut = case.drive.power_loss.and_then(|spec| Some((spec.at?, spec.off_for)));
    if let Some((at, _)) = cut.filter(|&(at, off)| SimTime::ZERO + at + off > agenda.horizon()) {
        return Err(RunFailure::User(format!(
            "power-loss.at = {at} and off-for together are later than the {} that an array of this size can simulate",
            agenda.horizon()
        )));
    }
    let measured = run::run(&mut array, &mut agenda, &case.run, progress)?;
    Ok(report::array::result(case, &array, &measured))
}
