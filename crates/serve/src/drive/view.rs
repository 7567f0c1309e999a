//! View of a served drive at an instant: what reports, metrics and the live page show.

use super::class::Class;
use super::clock::{Pace, WallTime};
use super::pacer::Pacer;
use super::statistics::Slow;
use super::suspension::SuspensionView;
use interpulse_embed::{Activity, Counters, Duration, PowerCut};
use interpulse_engine::LatencyHistogram;

/// Shares of the percentiles of a [`Distribution`], with their names.
pub const PERCENTILES: [(f64, &str); 6] =
    [(0.5, "p50"), (0.9, "p90"), (0.95, "p95"), (0.99, "p99"), (0.999, "p99.9"), (0.9999, "p99.99")];

/// Summary of a histogram; times in ns, all zero if it is empty.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Distribution {
    /// Values.
    pub count: u64,
    /// Their sum.
    pub sum_ns: u128,
    /// The smallest.
    pub min_ns: u64,
    /// The largest.
    pub max_ns: u64,
    /// The [`PERCENTILES`], within 0.2 %.
    pub percentiles_ns: [u64; PERCENTILES.len()],
}

impl Distribution {
    /// Summary of `of`.
    pub fn new(of: &LatencyHistogram) -> Distribution {
        let ns = |value: Option<Duration>| value.map_or(0, Duration::as_ns);
        Distribution {
            count: of.count(),
            sum_ns: of.sum_ns(),
            min_ns: ns(of.min()),
            max_ns: ns(of.max()),
            percentiles_ns: PERCENTILES.map(|(share, _)| ns(of.percentile(share))),
        }
    }

    /// Mean in ns; 0 if empty.
    pub fn mean_ns(&self) -> f64 {
        if self.count == 0 { 0.0 } else { self.sum_ns as f64 / self.count as f64 }
    }

    /// The percentile of [`PERCENTILES`] with this name.
    pub fn percentile_ns(&self, name: &str) -> u64 {
        let place = PERCENTILES.iter().position(|(_, of)| *of == name);
        place.map_or(0, |place| self.percentiles_ns[place])
    }
}

/// A class of commands in a view.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassView {
    /// The class.
    pub class: Class,
    /// Commands completed without an error.
    pub commands: u64,
    /// Commands that ended with an error.
    pub errors: u64,
    /// Bytes of the commands completed without an error.
    pub bytes: u64,
    /// Latencies in drive time since the start.
    pub latency: Distribution,
    /// Latencies in drive time of the last seconds of wall time.
    pub recent: Distribution,
}

/// What a view says about the session, which does not change.
#[derive(Clone, Debug, PartialEq)]
pub struct Session {
    /// Pace.
    pub pace: Pace,
    /// Hash of the configuration.
    pub config_hash: String,
    /// Notes about the initial state.
    pub notes: Vec<String>,
    /// Bytes of the drive.
    pub capacity: u64,
    /// Whether the device is an array.
    pub is_array: bool,
}

/// Power cuts since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PowerCuts {
    /// Their number.
    pub count: usize,
    /// The last one.
    pub last: Option<PowerCut>,
}

/// A drive at an instant.
#[derive(Clone, Debug)]
pub struct View {
    /// The session.
    pub session: Session,
    /// Wall time since the start of the session.
    pub wall: WallTime,
    /// Drive time.
    pub drive_ns: u64,
    /// Classes of commands.
    pub classes: Vec<ClassView>,
    /// Latencies in drive time of all classes together.
    pub all: Distribution,
    /// Slip in wall time; `None` at the highest pace, at which nothing is due.
    pub slip: Option<Distribution>,
    /// Commands outstanding in the drive.
    pub outstanding: usize,
    /// Largest number of commands outstanding at once.
    pub most_outstanding: usize,
    /// Schemes, and their changes so far.
    pub suspension: SuspensionView,
    /// What the dies do.
    pub activity: Activity,
    /// Counters of the device since the start.
    pub counters: Counters,
    /// The slowest commands, the slowest first.
    pub slowest: Vec<Slow>,
    /// Power cuts of a drive.
    pub power_cuts: PowerCuts,
}

impl View {
    /// The drive of `pacer` at `now`.
    pub fn new(session: &Session, pacer: &mut Pacer, now: WallTime) -> View {
        let statistics = &pacer.statistics;
        let of = pacer.device.suspension();
        let suspension =
            SuspensionView { program: of.program(), erase: of.erase(), changes: pacer.changes.clone() };
        let classes = statistics.classes().map(|(class, of)| ClassView {
            class,
            commands: of.commands,
            errors: of.errors,
            bytes: of.bytes,
            latency: Distribution::new(&of.latency),
            recent: Distribution::new(&statistics.windows.of(class, now)),
        });
        let cuts = pacer.device.power_cuts();
        View {
            power_cuts: PowerCuts { count: cuts.len(), last: cuts.last().copied() },
            session: session.clone(),
            wall: now,
            drive_ns: pacer.device.now().as_ns(),
            classes: classes.collect(),
            all: Distribution::new(&statistics.all()),
            slip: session.pace.dilation().map(|_| Distribution::new(&statistics.slip)),
            outstanding: pacer.outstanding(),
            most_outstanding: statistics.most_outstanding,
            suspension,
            slowest: statistics.slowest.clone(),
            activity: pacer.device.activity(),
            counters: pacer.device.counters(),
        }
    }

    /// Units programmed per unit that the host wrote; `None` if it wrote none.
    pub fn write_amplification(&self) -> Option<f64> {
        self.counters.ftl.write_amplification()
    }
}
