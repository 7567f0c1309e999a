//! A scheme with the limits around it, for one kind of operation.

use super::{
    Ask, Eligibility, MultiPlane, ResumeWhen, Scheme, Standing, Stop, SuspendCosts, SuspendScheme, Suspended,
};
use interpulse_engine::{Duration, SimTime};
use interpulse_settings::{ConfigError, Section, Spec, default, keys, optional};

keys! {
    /// What may stop an operation, and is served while it is stopped.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Preemptors, fn read(s) {
        /// a host read suspends it
        pub host_reads: bool = ["for-host-reads"] bool(default(true)),
        /// a read of garbage collection suspends it
        pub gc_reads: bool = ["for-gc-reads"] bool(default(false)),
        /// Programs of host data; for erases only (write-suspend-erase: Wu and He, Journal of Systems Architecture 2014).
        pub host_writes: bool => false,
    }
}

impl Preemptors {
    /// Host reads alone.
    pub const HOST_READS: Preemptors = Preemptors { host_reads: true, gc_reads: false, host_writes: false };
}

/// Where the data of a suspended program comes from when its page buffer was used for reads meanwhile
/// (Wu and He, FAST'12, slide 15: the page buffer has to be retained).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reload {
    /// From a shadow buffer on the die, which takes this long.
    ShadowBuffer(Duration),
    /// From the controller, page by page over the bus.
    Bus,
}

impl Reload {
    /// Name, value and one line of documentation of each; the time is the part's.
    pub const ALL: &'static [(&'static str, Reload, &'static str)] = &[
        (
            "shadow-buffer",
            Reload::ShadowBuffer(Duration::ZERO),
            "from a shadow buffer on the die, in `part.page-buffer-reload`",
        ),
        ("bus", Reload::Bus, "from the controller, over the bus"),
    ];
}

/// How often an operation may be suspended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SuspendLimits {
    /// See [`SuspendPolicy::max_suspends`].
    pub max_suspends: Option<u32>,
    /// See [`SuspendPolicy::min_interval`].
    pub min_interval: Duration,
}

/// No limit of a suspension is longer.
const LONGEST: Duration = Duration::from_ms(100_000);

fn or_zero() -> Spec<Duration> {
    default(Duration::ZERO).at_most(LONGEST)
}

keys! {
    /// A scheme with the limits around it, for one kind of operation.
    #[derive(Clone, Debug, PartialEq)]
    pub struct SuspendPolicy, pub fn read(s, of_part: SuspendCosts, drive_dies: u32) {
        /// The scheme.
        pub scheme: Scheme => Scheme::read(s)?,
        /// The part's costs.
        pub costs: SuspendCosts => of_part,
        /// most suspensions of one operation; left out, there is no limit
        pub max_suspends: Option<u32> = optional_u32(optional().at_least(1)),
        /// shortest time from resumed pulses to the next stop
        pub min_interval: Duration = duration(or_zero()),
        /// an operation with less than this left is not stopped
        pub min_remaining: Duration = duration(or_zero()),
        /// an operation with fewer loops left, the one begun included, is not stopped
        pub min_loops_left: u32 = u32(default(0).at_most(1000)),
        /// suspended for this long in all, an operation resumes and is stopped no more; looked at between reads
        pub max_suspended_time: Option<Duration> = optional_duration(optional().positive().at_most(LONGEST)),
        /// this long after its first suspension an operation resumes and is stopped no more; looked at between reads
        pub timeout: Option<Duration> = optional_duration(optional().positive().at_most(LONGEST)),
        /// Which operations may be suspended at all.
        pub eligible: Eligibility => Eligibility::read(s, drive_dies)?,
        /// What may suspend them.
        pub preemptors: Preemptors => Preemptors::read(s)?,
        /// when a suspended operation goes on
        pub resume: ResumeWhen = policy(Some("drained"), ResumeWhen::ROWS),
        /// time at the start of a pulse resumed midway that makes no progress
        pub resume_ramp: Duration = duration(or_zero()),
        /// Where a program's data comes from at a resume.
        pub reload: Reload => Reload::ShadowBuffer(Duration::ZERO),
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

/// What becomes of the request to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// The train stops like this.
    Stop(Stop),
    /// A limit forbids it, for the rest of this run of pulses.
    Refused,
    /// Not before this instant ([`SuspendPolicy::min_interval`]).
    NotBefore(SimTime),
    /// The scheme has no stop before the train's end.
    RunsOn,
}

impl SuspendPolicy {
    /// The policy of a part that cannot suspend.
    pub const NEVER: SuspendPolicy = SuspendPolicy::unlimited(
        Scheme::None,
        SuspendCosts { entry: Duration::ZERO, resume: Duration::ZERO, reset: Duration::ZERO },
    );

    /// `scheme` without any limit, for host reads, resumed when drained.
    pub const fn unlimited(scheme: Scheme, costs: SuspendCosts) -> SuspendPolicy {
        SuspendPolicy {
            scheme,
            costs,
            max_suspends: None,
            min_interval: Duration::ZERO,
            min_remaining: Duration::ZERO,
            min_loops_left: 0,
            max_suspended_time: None,
            timeout: None,
            eligible: Eligibility::ALL,
            preemptors: Preemptors::HOST_READS,
            resume: ResumeWhen::Drained,
            resume_ramp: Duration::ZERO,
            reload: Reload::ShadowBuffer(Duration::ZERO),
            stress_ppm: 0,
        }
    }

    /// How often an operation may be suspended.
    pub fn limits(&self) -> SuspendLimits {
        SuspendLimits { max_suspends: self.max_suspends, min_interval: self.min_interval }
    }

    /// Replaces how often an operation may be suspended.
    pub fn set_limits(&mut self, limits: SuspendLimits) {
        (self.max_suspends, self.min_interval) = (limits.max_suspends, limits.min_interval);
    }

    /// Whether an operation under this policy can ever be stopped.
    #[inline]
    pub fn is_on(&self) -> bool {
        self.scheme != Scheme::None && self.max_suspends != Some(0)
    }

    /// Applies limits and scheme: whether, where and how the train stops.
    #[inline]
    pub fn decide(&self, at: &Standing) -> Decision {
        let remaining = at.train.total() - at.elapsed;
        if remaining == Duration::ZERO {
            // Over, or an operation that takes no time: nothing is left to refuse.
            return Decision::RunsOn;
        }
        let loops_left = remaining.as_ns().div_ceil(at.train.loop_time().as_ns());
        if self.max_suspends.is_some_and(|max| at.suspends >= max)
            || remaining < self.min_remaining
            || loops_left < u64::from(self.min_loops_left)
            || self.patience_over(at.suspended_so_far(), at.now)
        {
            return Decision::Refused;
        }
        if at.suspends > 0 && at.now < at.resumed + self.min_interval {
            return Decision::NotBefore(at.resumed + self.min_interval);
        }
        match self.scheme.stop(&Ask { at, costs: &self.costs }) {
            // A stop at the very end is no suspension: the operation is then complete.
            Some(stop) if stop.after < remaining => {
                let stop = self.on_planes(stop, at.planes);
                if self.serves_nothing(at, &stop) { Decision::Refused } else { Decision::Stop(stop) }
            }
            _ => Decision::RunsOn,
        }
    }

    /// How the train stops if it is not to go on: limits do not count. `None` if it runs to its end.
    pub fn stop_for_good(&self, at: &Standing) -> Option<Stop> {
        let stop = self.scheme.stop(&Ask { at, costs: &self.costs })?;
        (at.elapsed + stop.after < at.train.total()).then(|| self.on_planes(stop, at.planes))
    }

    /// Whether stopping and going on cost nothing, whatever the part says.
    #[inline]
    pub fn costs_nothing(&self) -> bool {
        self.scheme.resumes_free()
    }

    /// Whether the limits would end the suspension before the die could be used: all cost and no gain.
    #[inline]
    fn serves_nothing(&self, at: &Standing, stop: &Stop) -> bool {
        let age = if at.suspends > 0 { at.now.since(at.first_suspend) + stop.after } else { Duration::ZERO };
        self.max_suspended_time.is_some_and(|most| at.suspended + stop.entry >= most)
            || self.timeout.is_some_and(|most| age + stop.entry >= most)
    }

    /// Whether an operation has used up its total suspended time or its timeout: it resumes and is stopped no more.
    #[inline]
    pub fn patience_over(&self, so_far: Suspended, now: SimTime) -> bool {
        so_far.times > 0
            && (self.max_suspended_time.is_some_and(|most| so_far.spent >= most)
                || self.timeout.is_some_and(|most| now >= so_far.first + most))
    }

    #[inline]
    fn on_planes(&self, stop: Stop, planes: u32) -> Stop {
        match self.eligible.multi_plane {
            MultiPlane::InTurn => Stop { entry: stop.entry * u64::from(planes), ..stop },
            MultiPlane::Together | MultiPlane::Refuse => stop,
        }
    }
}
