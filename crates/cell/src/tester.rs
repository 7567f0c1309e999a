//! The tester: one die of a part under a suspension scheme, and the cells behind it.
//!
//! The die is that of a drive (`interpulse_flash::script`). It knows nothing of cells, so it is driven with the longest train
//! that its part allows; [`Schedule`] is what it did, step by step. Cells follow the schedule until every state has passed its
//! verify, and there the operation ends: nothing that a die does depends on what comes later, so cutting the schedule short
//! there is exact.

use crate::coefficients::Coefficients;
use interpulse_engine::{Duration, SimTime};
use interpulse_flash::die::State;
use interpulse_flash::die::What;
use interpulse_flash::nand::NandConfig;
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
    /// The part; its trains are the longest that it allows.
    pub part: PartSpec,
    /// How its die behaves.
    pub nand: NandConfig,
}

/// What a die does to its cells in one stretch of time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Action {
    /// A pulse of loop `number` (from 0), or `share` of one.
    Pulse {
        /// The loop.
        number: u32,
        /// How much of the pulse's length.
        share: f64,
    },
    /// A pulse regains its voltage, this share of a pulse's length long.
    Ramp {
        /// The loop.
        number: u32,
        /// How much of the pulse's length.
        share: f64,
    },
    /// The whole verify of loop `number`.
    Verify {
        /// The loop.
        number: u32,
    },
    /// The operation is suspended. It ran on for a while after the request; a request that it outlives by nothing is none.
    Suspend {
        /// From the request until it halts.
        runs_on: Duration,
        /// From the halt until the die takes a read.
        enters: Duration,
    },
    /// Nothing is applied to the cells for this long.
    Rest {
        /// How long.
        length: Duration,
    },
}

/// A step of an operation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// Its end, counted from the first pulse.
    pub end: Duration,
    /// Of that, time in which the operation itself was on the die: pulses, stops, entering and leaving, not the reads.
    pub own: Duration,
    /// What happens.
    pub action: Action,
}

/// What a die did to the cells of one operation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Schedule {
    /// The steps one after the other.
    pub steps: Vec<Step>,
}

impl Tester {
    /// The cell preset called `preset`, with the part it names, under `overrides` (sections `[cell]` and `[part]`);
    /// programs and erases are suspended by these schemes.
    ///
    /// Fails on an unknown name or key and on a value out of range.
    pub fn resolve(
        preset: &str,
        overrides: Document,
        program: Scheme,
        erase: Scheme,
    ) -> Result<Tester, ConfigError> {
        let (cells, mut part) = Coefficients::resolve(preset, overrides)?;
        part.program.loops = cells.ispp.max_loops;
        part.erase.loops = cells.erase.max_loops;
        // The cells vary by themselves.
        part.program_loops_sd = 0.0;
        let nand = behaviour(&part, program, erase);
        Ok(Tester { cells, part, nand })
    }

    /// The die's schedule of a program of which reads of `read_page` are asked for as `probe` says; without, nothing stops it.
    pub fn program(&self, probe: Option<Probe>, read_page: u32) -> Schedule {
        self.schedule(Kind::HostProgram, probe, read_page, 0)
    }

    /// The die's schedule of an erase; `seed` draws the delays of a random probe.
    pub fn erase(&self, probe: Option<Probe>, seed: u64) -> Schedule {
        self.schedule(Kind::Erase, probe, 0, seed)
    }

    /// What the die did, as phases; see [`Tester::program`].
    pub fn phases(&self, kind: Kind, probe: Option<Probe>, read_page: u32) -> Vec<Phase> {
        phases::of(&self.drive(kind, probe, read_page, 0))
    }

    fn drive(&self, kind: Kind, probe: Option<Probe>, read_page: u32, seed: u64) -> Timeline {
        let script = Script {
            arrivals: vec![(SimTime::ZERO, kind)],
            probe,
            planes: 1,
            read_page,
            seed,
            // A scheme that starves its operation never ends; everything else is over long before.
            horizon: SimTime(Duration::from_ms(10_000).as_ns()),
        };
        script::play(&self.part, self.nand.clone(), &script)
    }

    fn schedule(&self, kind: Kind, probe: Option<Probe>, read_page: u32, seed: u64) -> Schedule {
        let timeline = self.drive(kind, probe, read_page, seed);
        let train = if kind == Kind::Erase { self.part.erase } else { self.part.program };
        let phases = phases::of(&timeline);
        Schedule::of(&timeline, &phases, train.pulse, train.loop_time())
    }
}

/// A die alone: reads first, nothing decoded, both operations suspended without limits.
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
        program_suspend: program,
        erase_suspend: erase,
        nesting: false,
        multi_plane_reads: false,
        super_layer: 0,
        ecc_latency: Duration::ZERO,
        ecc_interval: Duration::ZERO,
        errors: None,
        power: PowerConfig::default(),
    }
}

impl Schedule {
    /// The steps of the one operation of a timeline whose pulses last `pulse` and whose loops last `one`.
    fn of(timeline: &Timeline, phases: &[Phase], pulse: Duration, one: Duration) -> Schedule {
        let stops = stops(timeline);
        let mut schedule = Schedule::default();
        let Some(first) = phases.iter().find(|p| p.what == What::Pulse) else { return schedule };
        let (start, mut until) = (first.from, first.from);
        let mut own = Duration::ZERO;
        let mut next_stop = stops.iter().peekable();
        for run in runs(phases) {
            if run.from > until {
                if let Some(stop) = next_stop.next_if(|stop| stop.halted <= run.from) {
                    own += stop.own;
                    let action = Action::Suspend { runs_on: stop.runs_on, enters: stop.enters };
                    schedule.steps.push(Step { end: until.since(start), own, action });
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
                What::Pulse => Action::Pulse { number, share },
                What::Ramp => Action::Ramp { number, share },
                What::Verify if (run.progress + length).as_ns() % one.as_ns() == 0 => {
                    Action::Verify { number }
                }
                // A voltage reset does nothing to cells, and a verify that was cut off decides nothing.
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
    /// When it began to be entered.
    halted: SimTime,
    /// From the request until the halt.
    runs_on: Duration,
    /// From the halt until the die took a read.
    enters: Duration,
    /// Of the suspension, entering and leaving.
    own: Duration,
}

/// The suspensions of the operation, in order.
fn stops(timeline: &Timeline) -> Vec<Stop> {
    let mut stops: Vec<Stop> = Vec::new();
    let mut asked = Duration::ZERO;
    let mut pulsing = false;
    for span in timeline.spans.iter().filter(|span| span.long.is_some()) {
        let length = span.to.since(span.from);
        match span.state {
            State::Pulsing => (asked, pulsing) = (Duration::ZERO, true),
            State::Stopping => asked = length,
            // A read that arrives on a boundary stops the train there and then.
            _ if pulsing => {
                let enters = if span.state == State::Entering { length } else { Duration::ZERO };
                stops.push(Stop { halted: span.from, runs_on: asked, enters, own: enters });
                pulsing = false;
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

/// Phases of the train, what a stop's request divided put together again.
fn runs(phases: &[Phase]) -> Vec<Phase> {
    let mut runs: Vec<Phase> = Vec::new();
    let wanted = [What::Pulse, What::Verify, What::Reset, What::Ramp];
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
