//! Cells under a die's schedule.

use crate::cells::Cells;
use crate::program::Program;
use crate::tester::{Action, Schedule, Tester};
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
    /// Pulses and ramps applied, in whole pulses.
    pub pulses: f64,
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
                outcome.pulses += share;
            }
            Action::Ramp { number, share } => {
                // On its way up the voltage is half of the level on average, too low to bring charge; it only takes time.
                let _ = number;
                outcome.pulses += share;
            }
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
