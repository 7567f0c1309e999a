//! Tester: one die of a part under a suspension scheme, and the cells behind it.
//!
//! The die is that of a drive (`interpulse_flash::script`) and has no model of cells, so it runs the longest train of the part;
//! [`Schedule`] is the result. Cells follow the schedule until every state has passed its verify, where the operation ends.
//! Truncating the schedule there is exact, because a die does not depend on later steps.

use crate::coefficients::Coefficients;
use interpulse_engine::{Duration, SimTime};
use interpulse_flash::die::DiePhase;
use interpulse_flash::die::State;
use interpulse_flash::erase::{EraseMethod, MultiBlock};
use interpulse_flash::nand::NandConfig;
use interpulse_flash::nand::channel::ChannelOrder;
use interpulse_flash::nand::flow_order::HostOrder;
use interpulse_flash::nand::power::PowerConfig;
use interpulse_flash::nand::queue::{GcReadRank, Policy};
use interpulse_flash::nand::txn::Kind;
use interpulse_flash::parts::PartSpec;
use interpulse_flash::phases::{self, Phase};
use interpulse_flash::script::{self, Probe, Script, Timeline};
use interpulse_flash::suspend::{Reload, Scheme, SuspendCosts, SuspendPolicy};
use interpulse_flash::variation::LongOperations;
use interpulse_settings::{ConfigError, Document};

/// A part on the tester.
#[derive(Clone, Debug)]
pub struct Tester {
    /// The cells.
    pub cells: Coefficients,
    /// The part, with the longest legal trains.
    pub part: PartSpec,
    /// Configuration of the die.
    pub nand: NandConfig,
}

/// Action of a die on its cells.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Action {
    /// A pulse of loop `number` (from 0), or a part of one.
    Pulse {
        /// Loop.
        number: u32,
        /// Share of the length of a pulse.
        share: f64,
    },
    /// A voltage ramp of a resumed pulse.
    Ramp {
        /// Loop.
        number: u32,
        /// Share of the length of a pulse.
        share: f64,
    },
    /// The whole verify of loop `number`.
    Verify {
        /// Loop.
        number: u32,
    },
    /// A suspension.
    Suspend {
        /// From the request to the halt.
        runs_on: Duration,
        /// From the halt until the die accepts a read.
        enters: Duration,
    },
    /// A rest without voltage on the cells.
    Rest {
        /// Length.
        length: Duration,
    },
}

/// A step of an operation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// End, counted from the first pulse.
    pub end: Duration,
    /// That time without the reads: pulses, stops, suspend entries and resumes.
    pub own: Duration,
    /// Action.
    pub action: Action,
}

/// Steps of one operation on its cells.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Schedule {
    /// Steps in order.
    pub steps: Vec<Step>,
}

impl Tester {
    /// The cell preset `preset` and its part under `overrides` (sections `[cell]` and `[part]`), with the suspension schemes of
    /// programs and erases. Fails on unknown names and keys and on values out of range.
    pub fn resolve(
        preset: &str,
        overrides: Document,
        program: Scheme,
        erase: Scheme,
    ) -> Result<Tester, ConfigError> {
        let (cells, mut part) = Coefficients::resolve(preset, overrides)?;
        part.program.loops = cells.ispp.max_loops;
        part.erase.loops = cells.erase.max_loops;
        // The cell model has its own variation.
        part.program_loops_sd = 0.0;
        let nand = behaviour(&part, program, erase);
        Ok(Tester { cells, part, nand })
    }

    /// The schedule of a program with reads of `read_page` by `probe`, if any.
    pub fn program(&self, probe: Option<Probe>, read_page: u32) -> Schedule {
        self.schedule(Kind::HostProgram, probe, read_page, 0)
    }

    /// The schedule of an erase; `seed` is that of the delays of a random probe.
    pub fn erase(&self, probe: Option<Probe>, seed: u64) -> Schedule {
        self.schedule(Kind::Erase, probe, 0, seed)
    }

    /// The phases of the die; see [`Tester::program`].
    pub fn phases(&self, kind: Kind, probe: Option<Probe>, read_page: u32) -> Vec<Phase> {
        phases::split(&self.drive(kind, probe, read_page, 0))
    }

    fn drive(&self, kind: Kind, probe: Option<Probe>, read_page: u32, seed: u64) -> Timeline {
        let script = Script {
            arrivals: vec![(SimTime::ZERO, kind)],
            probe,
            planes: 1,
            read_page,
            seed,
            // Bounds operations that starve; all others end long before.
            horizon: SimTime(Duration::from_ms(10_000).as_ns()),
        };
        script::play(&self.part, self.nand.clone(), &script)
    }

    fn schedule(&self, kind: Kind, probe: Option<Probe>, read_page: u32, seed: u64) -> Schedule {
        let timeline = self.drive(kind, probe, read_page, seed);
        let train = if kind == Kind::Erase { self.part.erase } else { self.part.program };
        let phases = phases::split(&timeline);
        Schedule::of(&timeline, &phases, train.pulse, train.loop_time())
    }
}

/// Configuration of a single die: read priority, no decoding, suspensions without limits.
fn behaviour(part: &PartSpec, program: Scheme, erase: Scheme) -> NandConfig {
    let costs = |entry, resume| SuspendCosts { entry, resume, reset: part.voltage_reset };
    let mut program =
        SuspendPolicy::unlimited(program, costs(part.program_suspend_entry, part.program_resume));
    program.reload = Reload::ShadowBuffer(part.page_buffer_reload);
    let erase = SuspendPolicy::unlimited(erase, costs(part.erase_suspend_entry, part.erase_resume));
    NandConfig {
        policy: Policy::ReadPriority,
        gc_reads: GcReadRank::InOrder,
        long_operations: LongOperations::Real,
        erase_method: EraseMethod::Ispe,
        multi_block: MultiBlock::ONE,
        program_suspend: program,
        erase_suspend: erase,
        nesting: false,
        multi_plane_reads: false,
        multi_plane_programs: false,
        host_order: HostOrder::Arrival,
        channel_order: ChannelOrder::CommandsFirst,
        super_layer: 0,
        ecc_latency: Duration::ZERO,
        ecc_interval: Duration::ZERO,
        errors: None,
        power: PowerConfig::default(),
    }
}

impl Schedule {
    /// The steps of the operation of a timeline with pulses of length `pulse` and loops of length `one`.
    fn of(timeline: &Timeline, phases: &[Phase], pulse: Duration, one: Duration) -> Schedule {
        let stops = stops(timeline);
        let mut schedule = Schedule::default();
        let Some(first) = phases.iter().find(|p| p.what == DiePhase::Pulse) else { return schedule };
        let (start, mut until) = (first.from, first.from);
        let mut own = Duration::ZERO;
        let mut next_stop = stops.iter().peekable();
        for run in runs(phases) {
            if run.from > until {
                if let Some(stop) = next_stop.next_if(|stop| stop.halted <= run.from) {
                    own += stop.own;
                    let action = Action::Suspend { runs_on: stop.runs_on, enters: stop.enters };
                    if stop.suspends {
                        schedule.steps.push(Step { end: until.since(start), own, action });
                    }
                }
                let length = run.from.since(until);
                schedule.steps.push(Step {
                    end: run.from.since(start),
                    own,
                    action: Action::Rest { length },
                });
            }
            own += run.to.since(run.from);
            let number = (run.progress.as_ns() / one.as_ns()) as u32;
            let length = run.to.since(run.from);
            let share = length.as_ns() as f64 / pulse.as_ns().max(1) as f64;
            let action = match run.what {
                DiePhase::Pulse => Action::Pulse { number, share },
                DiePhase::Ramp => Action::Ramp { number, share },
                DiePhase::Verify if (run.progress + length).as_ns() % one.as_ns() == 0 => {
                    Action::Verify { number }
                }
                // A voltage reset and an interrupted verify have no effect.
                _ => {
                    until = run.to;
                    continue;
                }
            };
            schedule.steps.push(Step { end: run.to.since(start), own, action });
            until = run.to;
        }
        schedule
    }
}

/// A stop of the operation.
struct Stop {
    /// Whether it is a suspension, and not the end of a slice alone.
    suspends: bool,
    /// Time of the halt.
    halted: SimTime,
    /// From the request to the halt.
    runs_on: Duration,
    /// From the halt until the die accepts a read.
    enters: Duration,
    /// Entry and resume time.
    own: Duration,
}

/// The suspensions of the operation and the ends of its slices, in order.
fn stops(timeline: &Timeline) -> Vec<Stop> {
    let mut stops: Vec<Stop> = Vec::new();
    let mut runs_on = Duration::ZERO;
    let (mut pulsing, mut suspends) = (false, 0);
    for span in timeline.spans.iter().filter(|span| span.long.is_some()) {
        let length = span.to.since(span.from);
        match span.state {
            State::Pulsing => (runs_on, pulsing) = (Duration::ZERO, true),
            State::Stopping => runs_on = length,
            // A read that arrives on a boundary stops the train at once.
            _ if pulsing => {
                let enters = if span.state == State::Entering { length } else { Duration::ZERO };
                let own = if span.state == State::Resuming { length } else { enters };
                let is_suspended = span.suspends > suspends;
                stops.push(Stop { suspends: is_suspended, halted: span.from, runs_on, enters, own });
                (pulsing, suspends) = (false, span.suspends);
            }
            State::Resuming => {
                if let Some(stop) = stops.last_mut() {
                    stop.own += length;
                }
            }
            _ => {}
        }
    }
    stops
}

/// Phases of the train, with the parts before and after a stop request merged.
fn runs(phases: &[Phase]) -> Vec<Phase> {
    let mut runs: Vec<Phase> = Vec::new();
    let wanted = [DiePhase::Pulse, DiePhase::Verify, DiePhase::Reset, DiePhase::Ramp];
    for phase in phases.iter().filter(|phase| wanted.contains(&phase.what)) {
        match runs.last_mut() {
            Some(last)
                if last.what == phase.what
                    && last.to == phase.from
                    && last.progress + last.to.since(last.from) == phase.progress =>
            {
                last.to = phase.to;
            }
            _ => runs.push(*phase),
        }
    }
    runs
}

#[cfg(test)]
mod tests;
