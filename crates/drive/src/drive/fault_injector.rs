//! Fault injector: scheduled and random faults to come, and commands that wait for the firmware.

use crate::spec::{DriveSpec, FaultKind, Stalled, When};
use interpulse_engine::{Duration, RequestId, Rng, SimTime, Streams};
use interpulse_flash::nand::Nand;
use std::collections::VecDeque;

/// Faults to come, and commands that wait for the firmware.
pub(super) struct FaultInjector {
    /// Scheduled faults by time, the next one last.
    timed: Vec<(SimTime, FaultKind)>,
    /// Scheduled faults by number of commands, the next one last.
    counted: Vec<(u64, FaultKind)>,
    /// Random failures and stalls of dies.
    random: [Option<RandomFaults>; 2],
    dies: u32,
    /// Commands executed.
    pub(super) commands: u64,
    /// The firmware executes nothing before this.
    pub(super) held_until: SimTime,
    pub(super) held: VecDeque<RequestId>,
    /// Stalls so far.
    pub(super) stalls: u64,
}

/// A Poisson process of faults, each of a die drawn at random.
struct RandomFaults {
    every: Duration,
    next: SimTime,
    /// Length of a stall; `None` for failures.
    stall: Option<Duration>,
    rng: Rng,
}

impl RandomFaults {
    fn new(every: Duration, stall: Option<Duration>, rng: Rng) -> RandomFaults {
        let mut faults = RandomFaults { every, next: SimTime::ZERO, stall, rng };
        faults.draw();
        faults
    }

    fn draw(&mut self) {
        let after = -libm::log(1.0 - self.rng.unit()) * self.every.as_ns() as f64;
        self.next = SimTime(self.next.as_ns().saturating_add(1 + after as u64));
    }

    fn fault(&mut self, dies: u32) -> FaultKind {
        let die = self.rng.below(u64::from(dies)) as u32;
        self.draw();
        match self.stall {
            Some(length) => FaultKind::Stall(Stalled::Die(die), length),
            None => FaultKind::Die(die),
        }
    }
}

impl FaultInjector {
    /// Faults of a drive with the checked `spec`; `None` if its configuration has none.
    pub(super) fn new(spec: &DriveSpec, nand: &mut Nand, streams: &Streams) -> Option<Box<FaultInjector>> {
        if !spec.injects_faults() {
            return None;
        }
        nand.admit_stalls();
        let (mut timed, mut counted) = (Vec::new(), Vec::new());
        for fault in &spec.schedule {
            match fault.when {
                When::At(at) => timed.push((SimTime::ZERO + at, fault.what)),
                When::After(commands) => counted.push((commands, fault.what)),
            }
        }
        // Stable, so that of equals the first in the configuration occurs first.
        timed.reverse();
        counted.reverse();
        timed.sort_by_key(|of| std::cmp::Reverse(of.0));
        counted.sort_by_key(|of| std::cmp::Reverse(of.0));
        let random = spec.faults.as_ref().map_or([None, None], |of| {
            let failures = |every| RandomFaults::new(every, None, streams.stream("drive.die-failures", 0));
            let stalls =
                |every| RandomFaults::new(every, Some(of.die_stall), streams.stream("drive.die-stalls", 0));
            [of.die_failure_every.map(failures), of.die_stall_every.map(stalls)]
        });
        Some(Box::new(FaultInjector {
            timed,
            counted,
            random,
            dies: spec.geometry.dies(),
            commands: 0,
            held_until: SimTime::ZERO,
            held: VecDeque::new(),
            stalls: 0,
        }))
    }

    /// When the next fault or the end of a stall of the firmware is due.
    pub(super) fn next(&self) -> Option<SimTime> {
        let held = (!self.held.is_empty()).then_some(self.held_until);
        let random = self.random.iter().flatten().map(|of| of.next);
        random.chain(self.timed.last().map(|of| of.0)).chain(held).min()
    }

    /// The next fault that is due at `now`. Dies of a read-only drive no longer fail at random.
    pub(super) fn take_due(&mut self, now: SimTime, read_only: bool) -> Option<FaultKind> {
        if self.timed.last().is_some_and(|of| of.0 <= now) {
            return self.timed.pop().map(|of| of.1);
        }
        if read_only {
            self.random[0] = None;
        }
        let dies = self.dies;
        self.random.iter_mut().flatten().find(|of| of.next <= now).map(|of| of.fault(dies))
    }

    /// The next fault that the command about to be executed meets.
    pub(super) fn take_counted(&mut self) -> Option<FaultKind> {
        let due = self.counted.last().is_some_and(|of| of.0 <= self.commands);
        if due { self.counted.pop().map(|of| of.1) } else { None }
    }
}
