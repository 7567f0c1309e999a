//! Cells under a die's schedule.

use crate::cells::Cells;
use crate::coefficients::Coefficients;
use crate::erasing::Erase;
use crate::program::Program;
use crate::tester::{Action, Schedule, Step, Tester};
use interpulse_engine::Duration;

/// What became of a program under a schedule.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Programmed {
    /// Loops verified in the end.
    pub loops: u32,
    /// From the first pulse to the end.
    pub end: Duration,
    /// Of that, what was the program's own: without the reads.
    pub own: Duration,
    /// Time from each request to suspend, made while the program ran, until the die was ready: to enter the suspension, or, of
    /// a request in the last loop, to the program's end.
    pub entries: Vec<Duration>,
    /// Whether every state passed; otherwise the loops ran out (or the scheme let the program starve).
    pub passed: bool,
    /// Cells left below their verify level.
    pub below: u32,
}

/// Programs `data` in cycle `cycle` as `schedule` says, until every state has passed. `raised` is what each cell seems to be
/// above its threshold voltage (or empty).
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
            // On its way up the voltage is half of the level on average, too low to bring charge; it only takes time.
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
            Action::Rest { length } => run.rest(of, cells, length),
        }
    }
    outcome.below = run.below();
    outcome
}

/// What became of an erase under a schedule.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Erased {
    /// Loops verified in the end.
    pub loops: u32,
    /// From the first pulse to the end.
    pub end: Duration,
    /// Of that, what was the erase's own: without the reads.
    pub own: Duration,
    /// Suspensions.
    pub suspends: u32,
    /// Whether the verify passed; otherwise the loops ran out (or the scheme let the erase starve).
    pub passed: bool,
    /// Time under erase voltage, ramps in their share, in whole pulses.
    pub stress: f64,
}

/// Erases `lines`, the word lines of block `block` after `cycles` cycles, as `schedule` says, until the verify passes.
pub fn erase(of: &Coefficients, schedule: &Schedule, lines: &mut [Cells], block: u64, cycles: f64) -> Erased {
    let mut run = Erase::begin(&of.erase, lines, of.erased.mean, of.erased.sd, block, cycles);
    let mut outcome = Erased::default();
    // Pieces of one pulse are applied together: they do what the whole does.
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
