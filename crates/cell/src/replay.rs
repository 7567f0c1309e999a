//! Replay of the schedule of a die on cells.

use crate::cells::Cells;
use crate::coefficients::Coefficients;
use crate::erase::Erase;
use crate::program::Program;
use crate::tester::{Action, Schedule, Step, Tester};
use interpulse_engine::Duration;

/// Result of a program.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Programmed {
    /// Number of loops.
    pub loops: u32,
    /// Time from the first pulse to the end.
    pub end: Duration,
    /// That time without the reads.
    pub own: Duration,
    /// Time from each suspend request to the ready die: after the entry or, for a request in the last loop, the end of the
    /// program.
    pub entries: Vec<Duration>,
    /// Whether every state passed; otherwise the loops ran out or the program starved.
    pub passed: bool,
    /// Cells below their verify level.
    pub below: u32,
}

/// Programs `data` in cycle `cycle` by `schedule` until every state has passed. `raised` is the apparent rise of the threshold
/// voltage of each cell (or empty).
pub fn program(
    tester: &Tester,
    schedule: &Schedule,
    cells: &mut Cells,
    data: &[u8],
    cycle: u64,
    raised: &[f32],
) -> Programmed {
    let of = &tester.cells;
    let mut run = Program::begin(of, cells, data, cycle);
    let mut outcome = Programmed::default();
    for (k, step) in schedule.steps.iter().enumerate() {
        (outcome.end, outcome.own) = (step.end, step.own);
        match step.action {
            Action::Pulse { number, share } => {
                run.pulse(of, cells, number, share);
            }
            // During a ramp the voltage is too low to inject charge.
            Action::Ramp { .. } => {}
            Action::Verify { number } => {
                if matches!(schedule.steps.get(k + 1), Some(next) if !matches!(next.action, Action::Pulse { .. }))
                {
                    run.note_recent();
                }
                run.verify(of, cells, raised, number);
                outcome.loops = number + 1;
                if run.is_done() {
                    outcome.passed = true;
                    if let Some(Action::Suspend { runs_on, .. }) =
                        schedule.steps.get(k + 1).map(|next| next.action)
                        && runs_on > Duration::ZERO
                    {
                        outcome.entries.push(runs_on);
                    }
                    break;
                }
            }
            Action::Suspend { runs_on, enters } => outcome.entries.push(runs_on + enters),
            Action::Rest { length } => {
                run.rest(of, cells, length);
                // Between two slices alone the controller has not suspended the program.
                if k > 0 && matches!(schedule.steps[k - 1].action, Action::Suspend { .. }) {
                    let by = &tester.nand.program_suspend.compensation;
                    run.compensate(of, by, length, outcome.loops);
                }
            }
        }
    }
    outcome.below = run.below();
    outcome
}

/// Result of an erase.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Erased {
    /// Number of loops.
    pub loops: u32,
    /// Time from the first pulse to the end.
    pub end: Duration,
    /// That time without the reads.
    pub own: Duration,
    /// Suspensions.
    pub suspends: u32,
    /// Whether the verify passed; otherwise the loops ran out or the erase starved.
    pub passed: bool,
    /// Time under erase voltage, in whole pulses; ramps count with their share.
    pub stress: f64,
}

/// Erases `lines`, the word lines of `block` after `cycles` cycles, by `schedule` until the verify passes.
pub fn erase(of: &Coefficients, schedule: &Schedule, lines: &mut [Cells], block: u64, cycles: f64) -> Erased {
    let mut run = Erase::begin(&of.erase, lines, of.erased.mean, of.erased.sd, block, cycles);
    let mut outcome = Erased::default();
    // Pieces of one pulse are applied together; they add up to the whole.
    let mut pieces = 0.0;
    for (k, step) in schedule.steps.iter().enumerate() {
        (outcome.end, outcome.own) = (step.end, step.own);
        match step.action {
            Action::Pulse { number, share } => {
                pieces += share;
                let same =
                    |later: &&Step| matches!(later.action, Action::Pulse { .. } | Action::Verify { .. });
                let next = schedule.steps[k + 1..].iter().find(same).map(|later| later.action);
                if !matches!(next, Some(Action::Pulse { number: n, .. }) if n == number) {
                    run.pulse(&of.erase, lines, number, std::mem::take(&mut pieces));
                }
            }
            Action::Ramp { share, .. } => run.ramp(&of.erase, share),
            Action::Verify { number } => {
                outcome.loops = number + 1;
                if run.verify(&of.erase, lines, number) {
                    outcome.passed = true;
                    break;
                }
            }
            Action::Suspend { .. } => outcome.suspends += 1,
            Action::Rest { .. } => {}
        }
    }
    outcome.stress = run.stress();
    outcome
}
