//! Current trace of one die: VDDcore current against time.

use crate::command::Kind;
use crate::die::DiePhase;
use crate::parts::PartSpec;
use crate::parts::power::Draw;
use crate::phases::Phase;
use interpulse_engine::{Current, SimTime};

/// A change of the VDDcore current of a die.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Time of the change.
    pub at: SimTime,
    /// Current from then on.
    pub current: Current,
}

/// The current of a die of `part` over the phases of its timeline ([`crate::phases::split`]), as a tester's current probe
/// records it (Zambelli et al. 2021, Figure 3b). Reads count as reads of least significant pages; the last step is the
/// deselection of the die.
///
/// ```
/// use interpulse_engine::{Current, Duration, SimTime};
/// use interpulse_flash::parts::{self, PartSpec};
/// use interpulse_flash::die::DiePhase;
/// use interpulse_flash::phases::Phase;
/// use interpulse_flash::power;
///
/// let document = parts::preset("fast12-slc")?;
/// let part = PartSpec::read(&mut document.section("part")?)?;
/// let phase = |from, to, what| Phase {
///     from: SimTime(from), to: SimTime(to), what, long: None, running_on: false, again: false,
///     progress: Duration::ZERO,
/// };
/// let steps = power::trace(&part, &[phase(0, 200, DiePhase::Command), phase(200, 10_200, DiePhase::Sense)]);
/// let seen: Vec<(u64, u64)> = steps.iter().map(|step| (step.at.as_ns(), step.current.as_ua())).collect();
/// assert_eq!(seen, [(0, 5_000), (200, 25_000), (10_200, 10)]);
/// # Ok::<(), interpulse_settings::ConfigError>(())
/// ```
pub fn trace(part: &PartSpec, phases: &[Phase]) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut push = |at, current| {
        if steps.last().is_none_or(|last| last.current != current) {
            steps.push(Step { at, current });
        }
    };
    let mut end = None;
    for phase in phases {
        if let Some(end) = end
            && end < phase.from
        {
            push(end, part.power.current(Draw::Standby));
        }
        push(phase.from, part.power.current(draw_of(phase)));
        end = Some(phase.to);
    }
    if let Some(end) = end {
        push(end, part.power.current(Draw::Standby));
    }
    steps
}

/// The consumer of current during a phase.
fn draw_of(phase: &Phase) -> Draw {
    let [pulse, reset, verify] = phase.long.unwrap_or(Kind::HostProgram).train().draws;
    match phase.what {
        DiePhase::Idle => Draw::Standby,
        DiePhase::Bus | DiePhase::Command | DiePhase::Predict => Draw::Idle,
        DiePhase::Load => Draw::Load,
        DiePhase::Pulse | DiePhase::Ramp => pulse,
        DiePhase::Reset => reset,
        DiePhase::Verify => verify,
        DiePhase::Discharge => Draw::Discharge,
        DiePhase::Entry => Draw::Entry,
        DiePhase::Hold => Draw::Hold,
        DiePhase::Sense => Draw::Sense0,
        DiePhase::Out => Draw::Out,
        DiePhase::Reload => Draw::Reload,
        DiePhase::Resume => Draw::Resume,
    }
}
