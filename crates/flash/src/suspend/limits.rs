//! Suspension policy: a scheme with limits, eligibility and resume policy, for one kind of operation.

use super::{
    Compensation, Eligibility, LongOpStatus, MultiPlane, ResumePolicy, Scheme, Stop, StopRequest,
    SuspendCosts, SuspendScheme, Suspended, Tiers,
};
use interpulse_engine::{Duration, SimTime};
use interpulse_settings::{ConfigError, Section, Spec, default, keys, optional};

keys! {
    /// Operations that may suspend a long operation and run during the suspension.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Preemptors, fn read(s) {
        /// host reads suspend the operation
        pub host_reads: bool = ["for-host-reads"] bool(default(true)),
        /// reads of garbage collection suspend the operation
        pub gc_reads: bool = ["for-gc-reads"] bool(default(false)),
        /// Programs of host data; for erases only (write-suspend-erase: Wu and He, Journal of Systems Architecture 2014).
        pub host_writes: bool => false,
    }
}

impl Preemptors {
    /// Host reads only.
    pub const HOST_READS: Preemptors = Preemptors { host_reads: true, gc_reads: false, host_writes: false };
}

/// Source of the page buffer of a resumed program after reads have used the buffer (Wu and He, FAST'12, slide 15).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reload {
    /// A shadow buffer on the die, with this transfer time.
    ShadowBuffer(Duration),
    /// The controller, page by page over the bus.
    Bus,
}

impl Reload {
    /// Name, value and documentation of each; the part gives the time.
    pub const ALL: &'static [(&'static str, Reload, &'static str)] = &[
        (
            "shadow-buffer",
            Reload::ShadowBuffer(Duration::ZERO),
            "from a shadow buffer on the die, in `part.page-buffer-reload`",
        ),
        ("bus", Reload::Bus, "from the controller, over the bus"),
    ];
}

/// Limits on the frequency of suspensions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SuspendLimits {
    /// See [`SuspendPolicy::max_suspends`].
    pub max_suspends: Option<u32>,
    /// See [`SuspendPolicy::min_interval`].
    pub min_interval: Duration,
}

/// Longest legal time limit.
const MAX_LIMIT: Duration = Duration::from_ms(100_000);

fn optional_time() -> Spec<Duration> {
    default(Duration::ZERO).at_most(MAX_LIMIT)
}

keys! {
    /// Suspension policy of one kind of operation.
    #[derive(Clone, Debug, PartialEq)]
    pub struct SuspendPolicy, pub fn read(s, part_costs: SuspendCosts, drive_dies: u32) {
        /// The scheme.
        pub scheme: Scheme => Scheme::read(s)?,
        /// Costs of the part.
        pub costs: SuspendCosts => part_costs,
        /// most suspensions of one operation; unlimited by default
        pub max_suspends: Option<u32> = optional_u32(optional().at_least(1)),
        /// shortest time from the resumed pulses to the next stop
        pub min_interval: Duration = duration(optional_time()),
        /// Budgets of suspensions by tier.
        pub tiers: Tiers => Tiers::read(s, MAX_LIMIT)?,
        /// an operation with less remaining time is not suspended
        pub min_remaining: Duration = duration(optional_time()),
        /// an operation with fewer remaining loops, the current one included, is not suspended
        pub min_loops_left: u32 = u32(default(0).at_most(1000)),
        /// total suspended time after which an operation resumes and runs to its end; checked between reads
        pub max_suspended_time: Option<Duration> = optional_duration(optional().positive().at_most(MAX_LIMIT)),
        /// time since the first suspension after which an operation resumes and runs to its end; checked between reads
        pub timeout: Option<Duration> = optional_duration(optional().positive().at_most(MAX_LIMIT)),
        /// Eligible operations.
        pub eligible: Eligibility => Eligibility::read(s, drive_dies)?,
        /// Operations that may suspend them.
        pub preemptors: Preemptors => Preemptors::read(s)?,
        /// when a suspended operation resumes
        pub resume: ResumePolicy = policy(Some("drained"), ResumePolicy::ROWS),
        /// ramp of a pulse resumed midway, which makes no progress
        pub resume_ramp: Duration = duration(optional_time()),
        /// Source of the page buffer at a resume.
        pub reload: Reload => Reload::ShadowBuffer(Duration::ZERO),
        /// Fall of the voltage of a resumed program.
        pub compensation: Compensation => Compensation::NONE,
        /// Wear of one suspension, in millionths of a program/erase cycle.
        pub stress_ppm: u32 => read_stress(s)?,
    }
}

fn read_stress(s: &mut Section) -> Result<u32, ConfigError> {
    let doc = "wear of one suspension as a share of a program/erase cycle";
    let stress = s.fraction("stress", doc, default(0.0).at_most(1.0))?;
    match (stress * 1e6).round() as u32 {
        0 if stress > 0.0 => Err(s.invalid("stress", "0, or a millionth of a cycle and more")),
        ppm => Ok(ppm),
    }
}

/// Result of a stop request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// The train stops.
    Stop(Stop),
    /// A limit forbids the stop until the next resume or the end.
    Refused,
    /// The stop must wait until this time ([`SuspendPolicy::min_interval`]).
    NotBefore(SimTime),
    /// The scheme has no stop point before the end of the train.
    RunsToEnd,
}

impl SuspendPolicy {
    /// The policy of a part that cannot suspend.
    pub const NEVER: SuspendPolicy = SuspendPolicy::unlimited(
        Scheme::None,
        SuspendCosts { entry: Duration::ZERO, resume: Duration::ZERO, reset: Duration::ZERO },
    );

    /// `scheme` without limits, preempted by host reads, resumed when drained.
    pub const fn unlimited(scheme: Scheme, costs: SuspendCosts) -> SuspendPolicy {
        SuspendPolicy {
            scheme,
            costs,
            max_suspends: None,
            min_interval: Duration::ZERO,
            tiers: Tiers::NONE,
            min_remaining: Duration::ZERO,
            min_loops_left: 0,
            max_suspended_time: None,
            timeout: None,
            eligible: Eligibility::ALL,
            preemptors: Preemptors::HOST_READS,
            resume: ResumePolicy::Drained,
            resume_ramp: Duration::ZERO,
            reload: Reload::ShadowBuffer(Duration::ZERO),
            compensation: Compensation::NONE,
            stress_ppm: 0,
        }
    }

    /// Limits on the frequency of suspensions.
    pub fn limits(&self) -> SuspendLimits {
        SuspendLimits { max_suspends: self.max_suspends, min_interval: self.min_interval }
    }

    /// Replaces the limits on the frequency of suspensions.
    pub fn set_limits(&mut self, limits: SuspendLimits) {
        (self.max_suspends, self.min_interval) = (limits.max_suspends, limits.min_interval);
    }

    /// Whether the policy permits any suspension.
    #[inline]
    pub fn can_suspend(&self) -> bool {
        self.scheme != Scheme::None && self.max_suspends != Some(0)
    }

    /// Applies limits and scheme to a stop request.
    #[inline]
    pub fn decide(&self, op: &LongOpStatus) -> Decision {
        let remaining = op.train.total() - op.elapsed;
        if remaining == Duration::ZERO {
            return Decision::RunsToEnd;
        }
        let so_far = Suspended { times: op.suspends, first: op.first_suspend, spent: op.suspended };
        if self.max_suspends.is_some_and(|max| op.suspends >= max)
            || self.tiers.are_used_up(op.suspends)
            || remaining < self.min_remaining
            // Without the limit a stop request needs no division.
            || (self.min_loops_left > 0 && op.train.loops_left(op.elapsed) < u64::from(self.min_loops_left))
            || self.suspend_limit_reached(so_far, op.now)
        {
            return Decision::Refused;
        }
        if op.suspends > 0 {
            let from = op.resumed + self.min_interval.max(self.tiers.interval(op.suspends));
            if op.now < from {
                return Decision::NotBefore(from);
            }
        }
        match self.scheme.stop(&StopRequest { op, costs: &self.costs }) {
            // A stop at the end of the train is its completion.
            Some(stop) if stop.after < remaining => {
                let stop = self.with_planes(stop, op.planes);
                if self.is_pointless(op, &stop) { Decision::Refused } else { Decision::Stop(stop) }
            }
            _ => Decision::RunsToEnd,
        }
    }

    /// The stop of a train that will not resume, without limits; `None` if the train runs to its end.
    pub fn final_stop(&self, op: &LongOpStatus) -> Option<Stop> {
        let stop = self.scheme.stop(&StopRequest { op, costs: &self.costs })?;
        (op.elapsed + stop.after < op.train.total()).then(|| self.with_planes(stop, op.planes))
    }

    /// Whether the scheme ignores the suspend and resume costs of the part.
    #[inline]
    pub fn costs_nothing(&self) -> bool {
        self.scheme.has_free_resume()
    }

    /// Whether the limits would end the suspension before the die accepts a read.
    #[inline]
    fn is_pointless(&self, op: &LongOpStatus, stop: &Stop) -> bool {
        let age = if op.suspends > 0 { op.now.since(op.first_suspend) + stop.after } else { Duration::ZERO };
        self.max_suspended_time.is_some_and(|most| op.suspended + stop.entry >= most)
            || self.timeout.is_some_and(|most| age + stop.entry >= most)
    }

    /// Whether a time ends suspensions.
    #[inline]
    pub fn has_time_limit(&self) -> bool {
        self.max_suspended_time.is_some() || self.timeout.is_some()
    }

    /// Whether an operation has reached `max_suspended_time` or `timeout`, so that it resumes and runs to its end.
    #[inline]
    pub fn suspend_limit_reached(&self, so_far: Suspended, now: SimTime) -> bool {
        so_far.times > 0
            && (self.max_suspended_time.is_some_and(|most| so_far.spent >= most)
                || self.timeout.is_some_and(|most| now >= so_far.first + most))
    }

    #[inline]
    fn with_planes(&self, stop: Stop, planes: u32) -> Stop {
        match self.eligible.multi_plane {
            MultiPlane::InTurn => Stop { entry: stop.entry * u64::from(planes), ..stop },
            MultiPlane::Together | MultiPlane::Refuse => stop,
        }
    }
}
