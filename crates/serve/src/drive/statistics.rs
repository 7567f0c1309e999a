//! Statistics of a served drive: commands by operation, latencies in drive time, slip in wall time, slowest commands.

use super::class::Class;
use super::clock::WallTime;
use super::window::Windows;
use crate::command::{Command, Outcome};
use interpulse_embed::{CAUSE_INFO, Completion, Duration, SimTime};
use interpulse_engine::LatencyHistogram;

/// Slowest commands kept.
const SLOWEST: usize = 10;

/// A completed command.
pub struct Ended<'a> {
    /// The command.
    pub command: Command,
    /// Drive time of its arrival.
    pub submitted: SimTime,
    /// Completion of its last request.
    pub completion: &'a Completion,
    /// Result.
    pub outcome: Outcome,
}

/// Counts and latencies of a class.
#[derive(Clone, Default)]
pub struct OfClass {
    /// Commands completed without an error.
    pub commands: u64,
    /// Commands that ended with an error.
    pub errors: u64,
    /// Bytes of the commands completed without an error.
    pub bytes: u64,
    /// Latencies in drive time of all completed commands, from arrival to completion in the simulated drive.
    pub latency: LatencyHistogram,
}

/// A slow command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slow {
    /// Its class.
    pub class: Class,
    /// Drive time of its arrival.
    pub submitted: SimTime,
    /// First byte.
    pub offset: u64,
    /// Bytes.
    pub length: u32,
    /// Latency in drive time.
    pub latency: Duration,
    /// Largest cause of the latency of its last request; `None` where the device records none.
    pub cause: Option<&'static str>,
}

/// Statistics since the start.
#[derive(Clone, Default)]
pub struct Statistics {
    classes: [OfClass; Class::COUNT],
    /// Wall instant of delivery less the wall instant at which a completion was due.
    pub slip: LatencyHistogram,
    /// Latencies of the last seconds of wall time.
    pub windows: Windows,
    /// Commands submitted.
    pub submitted: u64,
    /// Commands that the drive refused because it is read-only.
    pub refused: u64,
    /// Largest number of commands outstanding at once.
    pub most_outstanding: usize,
    /// The slowest commands, the slowest first.
    pub slowest: Vec<Slow>,
}

impl Statistics {
    /// Commands completed from now on belong to the time window of `now`.
    pub fn begin_step(&mut self, now: WallTime) {
        self.windows.begin(now);
    }

    /// Counts a submission, after which so many commands are outstanding.
    pub fn submitted(&mut self, outstanding: usize) {
        self.submitted += 1;
        self.most_outstanding = self.most_outstanding.max(outstanding);
    }

    /// Counts a completed command.
    pub fn ended(&mut self, ended: &Ended) {
        let Ended { command, submitted, completion, outcome } = ended;
        let class = Class::of(command.kind);
        let latency = completion.completed.since(*submitted);
        let of = &mut self.classes[class as usize];
        of.latency.record(latency);
        if *outcome == Outcome::Success {
            of.commands += 1;
            of.bytes += if class == Class::Flush { 0 } else { u64::from(command.length) };
        } else {
            of.errors += 1;
            self.refused += u64::from(*outcome == Outcome::NotPermitted);
        }
        self.windows.record(class, latency);
        if self.slowest.len() < SLOWEST || self.slowest.last().is_some_and(|last| latency > last.latency) {
            self.keep_slow(ended, latency);
        }
    }

    #[cold]
    fn keep_slow(&mut self, ended: &Ended, latency: Duration) {
        let causes = ended.completion.causes.iter().enumerate();
        let largest = causes.filter(|&(_, &ns)| ns > 0).max_by_key(|&(_, &ns)| ns);
        let slow = Slow {
            class: Class::of(ended.command.kind),
            submitted: ended.submitted,
            offset: ended.command.offset,
            length: ended.command.length,
            latency,
            cause: largest.map(|(k, _)| CAUSE_INFO[k].0),
        };
        let place = self.slowest.partition_point(|other| other.latency >= latency);
        self.slowest.insert(place, slow);
        self.slowest.truncate(SLOWEST);
    }

    /// Counts the slip of a completion that was due at `due` and has been delivered at `now`.
    pub fn delivered(&mut self, due: WallTime, now: WallTime) {
        self.slip.record(Duration(now.0.saturating_sub(due.0)));
    }

    /// Statistics of a class.
    pub fn class(&self, class: Class) -> &OfClass {
        &self.classes[class as usize]
    }

    /// Every class with its statistics.
    pub fn classes(&self) -> impl Iterator<Item = (Class, &OfClass)> {
        Class::ALL.into_iter().zip(&self.classes)
    }

    /// Latencies of all classes together.
    pub fn all(&self) -> LatencyHistogram {
        let mut all = LatencyHistogram::new();
        self.classes.iter().for_each(|of| all.merge(&of.latency));
        all
    }
}
