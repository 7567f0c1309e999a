//! The current of one die against time.

use crate::command::Kind;
use crate::die::What;
use crate::parts::PartSpec;
use crate::parts::power::Draw;
use crate::phases::Phase;
use interpulse_engine::{Current, SimTime};

/// From this instant on the die draws this VDDcore current, until the next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The instant.
    pub at: SimTime,
    /// The current.
    pub current: Current,
}

/// The VDDcore current of one die of `part` from the phases of its timeline ([`crate::phases::of`]), step by step: equal
/// neighbours are one step, and the last step is the end of the last phase, where the die is deselected.
///
/// It is what a tester's current probe records (Zambelli et al. 2021, Figure 3b). The reads of a bench are of least
/// significant pages.
///
/// ```
/// use interpulse_engine::{Current, Duration, SimTime};
/// use interpulse_flash::parts::{self, PartSpec};
/// use interpulse_flash::die::What;
/// use interpulse_flash::phases::Phase;
/// use interpulse_flash::power;
///
/// let document = parts::preset("fast12-slc")?;
/// let part = PartSpec::read(&mut document.section("part")?)?;
/// let phase = |from, to, what| Phase {
///     from: SimTime(from), to: SimTime(to), what, long: None, running_on: false, again: false,
///     progress: Duration::ZERO,
/// };
/// let steps = power::trace(&part, &[phase(0, 200, What::Command), phase(200, 10_200, What::Sense)]);
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

/// What the current of a phase is drawn for.
fn draw_of(phase: &Phase) -> Draw {
    let [pulse, reset, verify] = phase.long.unwrap_or(Kind::HostProgram).train().draws;
    match phase.what {
        What::Idle => Draw::Standby,
        What::Bus | What::Command => Draw::Idle,
        What::Load => Draw::Load,
        What::Pulse | What::Ramp => pulse,
        What::Reset => reset,
        What::Verify => verify,
        What::Discharge => Draw::Discharge,
        What::Entry => Draw::Entry,
        What::Hold => Draw::Hold,
        What::Sense => Draw::Sense0,
        What::Out => Draw::Out,
        What::Reload => Draw::Reload,
        What::Resume => Draw::Resume,
    }
}
