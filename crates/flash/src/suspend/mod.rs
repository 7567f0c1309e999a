//! Suspension schemes: where a pulse train may stop, the progress it keeps, and the costs of stop and resume.
//!
//! A scheme decides; the die owns the mechanism and checks its legality. Limits ([`limits::SuspendPolicy`]), [`eligibility`]
//! and [`resume`] apply to every scheme. A scheme is one file, with its own keys if any, and one line of the registry below,
//! from which the parser, the messages, the documentation of keys and the conformance tests derive.

pub mod compensation;
pub mod eligibility;
pub mod limits;
pub mod resume;
pub mod slices;
pub mod tiers;

use crate::pulse::PulseTrain;
use interpulse_engine::{Duration, SimTime};
use interpulse_settings::{ConfigError, Section, registry};

pub use adaptive::Adaptive;
pub use compensation::Compensation;
pub use deferred::{Deferred, SafePointEntry};
pub use eligibility::{Eligibility, MultiPlane};
pub use limits::{Decision, Preemptors, Reload, SuspendLimits, SuspendPolicy};
pub use resume::ResumePolicy;
pub use safe_points::SafePoints;
pub use slices::Sliced;
pub use tiers::Tiers;
pub use timeout::{DeferClock, Timeout};

/// Suspension costs of a part for one kind of operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SuspendCosts {
    /// From the legal stop until the die accepts a read.
    pub entry: Duration,
    /// From the resume command until the train makes progress again.
    pub resume: Duration,
    /// Discharge of the word lines when a phase is cancelled.
    pub reset: Duration,
}

/// The stop that a scheme chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stop {
    /// Time until the train halts.
    pub after: Duration,
    /// Progress kept; at most the progress at the halt.
    pub keeps: Duration,
    /// From the halt until the die accepts a read.
    pub entry: Duration,
    /// From the resume command until the train makes progress again.
    pub resume: Duration,
}

/// Suspensions of an operation so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Suspended {
    /// Number, the current one included.
    pub times: u32,
    /// Start of the first; meaningless before.
    pub first: SimTime,
    /// Total time from halts to resumed pulses.
    pub spent: Duration,
}

/// Status of a program or erase at a stop request.
#[derive(Clone, Copy, Debug)]
pub struct LongOpStatus<'a> {
    /// Pulse train.
    pub train: &'a PulseTrain,
    /// Progress, less than the train's total.
    pub elapsed: Duration,
    /// Whether the loop or slice that begins at `elapsed` has already been commanded: true at the end of a resume, so that
    /// reads during the resume cannot starve the train.
    pub committed: bool,
    /// Number of planes.
    pub planes: u32,
    /// Suspensions so far.
    pub suspends: u32,
    /// Time of the first suspension; meaningless before.
    pub first_suspend: SimTime,
    /// Time of the last resume; meaningless before.
    pub resumed: SimTime,
    /// Total suspended time, from halts to resumed pulses.
    pub suspended: Duration,
    /// Current time.
    pub now: SimTime,
    /// Submission time of the oldest host write that waits for the cache.
    pub oldest_write: Option<SimTime>,
}

/// Input of a scheme: the operation to stop and the costs of the part.
#[derive(Clone, Copy, Debug)]
pub struct StopRequest<'a> {
    /// Status of the operation.
    pub op: &'a LongOpStatus<'a>,
    /// Costs of the part.
    pub costs: &'a SuspendCosts,
}

impl StopRequest<'_> {
    /// The train continues for `after` and keeps all progress.
    #[inline]
    pub fn stop_after(&self, after: Duration) -> Stop {
        Stop { after, keeps: self.op.elapsed + after, entry: self.costs.entry, resume: self.costs.resume }
    }

    /// The train halts now and keeps only `keeps`.
    #[inline]
    pub fn halt(&self, keeps: Duration) -> Stop {
        Stop { after: Duration::ZERO, keeps, entry: self.costs.entry, resume: self.costs.resume }
    }

    /// As [`StopRequest::halt`], with a discharge of the word lines first.
    #[inline]
    pub fn halt_and_reset(&self, keeps: Duration) -> Stop {
        Stop { entry: self.costs.reset + self.costs.entry, ..self.halt(keeps) }
    }
}

/// A suspension scheme.
///
/// The die calls [`stop`](SuspendScheme::stop) once per suspension, when a preempting operation waits and the limits permit
/// it. If the train would finish within `after`, no suspension takes place.
pub trait SuspendScheme {
    /// Stop point and costs; `None` if the train cannot stop.
    fn stop(&self, request: &StopRequest) -> Option<Stop>;

    /// Whether a committed train ([`LongOpStatus::committed`]) always progresses before its next stop.
    fn guarantees_progress(&self) -> bool {
        true
    }

    /// Whether resuming is free whatever the part and the policy: no reload of the page buffer, no ramp.
    fn has_free_resume(&self) -> bool {
        false
    }

    /// Whether the scheme needs [`LongOpStatus::oldest_write`].
    fn watches_writes(&self) -> bool {
        false
    }

    /// Slices in which the controller commands the operation, on any part; `None` if the part suspends it.
    fn slices(&self) -> Option<&Sliced> {
        None
    }
}

registry! {
    $ /// The suspension schemes, dispatched statically.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Scheme, each_scheme {
        "none" => none::None: "no suspension: reads wait for the end of the operation";
        "ideal" => ideal::Ideal: "stop at once, lose nothing, cost nothing (a bound, not a part; Kim et al., ATC'19: Ideal-ES)";
        "inter-phase" => inter_phase::InterPhase: "finish the current pulse or verify (Wu and He, FAST'12: IPS)";
        "intra-phase-cancel" => intra_phase_cancel::IntraPhaseCancel: "cancel the current pulse or verify and redo it (Wu and He, FAST'12: IPC)";
        "pulse-remainder" => pulse_remainder::PulseRemainder: "cancel with a voltage reset, continue with the rest of the pulse, redo a verify (Wu and He, FAST'12: erase suspension)";
        "exact" => exact::Exact: "stop at once and continue with exactly the remaining time (Kim et al., ATC'19: ES)";
        "immediate" => immediate::Immediate: "stop at once, restart the interrupted loop (Kim et al., ATC'19: I-ES)";
        "deferred" => deferred::Deferred(it): "finish the current loop (Kim et al., ATC'19: D-ES)";
        "timeout" => timeout::Timeout(it): "immediate until a write starves for `defer-after`, then deferred (Kim et al., ATC'19: T-ES)";
        "loop-boundary" => loop_boundary::LoopBoundary: "finish the current loop, pulse and verifies together (Zambelli 2021, Section 3.1)";
        "adaptive" => adaptive::Adaptive(it): "finish the current interval, at points apart from the loops (Fujimori and Nomura, SYSTOR'23: A-ES)";
        "safe-points" => safe_points::SafePoints(it): "finish the current part of a pulse (Kim et al., KICS 2025: SSR)";
        "sliced" => sliced::Sliced(it): "finish the current slice, on parts that cannot suspend (US 9,892,794)";
    }
}

impl SuspendScheme for Scheme {
    #[inline]
    fn stop(&self, request: &StopRequest) -> Option<Stop> {
        each_scheme!(self, it => it.stop(request))
    }

    fn guarantees_progress(&self) -> bool {
        each_scheme!(self, it => it.guarantees_progress())
    }

    fn has_free_resume(&self) -> bool {
        each_scheme!(self, it => it.has_free_resume())
    }

    fn watches_writes(&self) -> bool {
        each_scheme!(self, it => it.watches_writes())
    }

    fn slices(&self) -> Option<&Sliced> {
        // Only one scheme has slices; matched by hand, because every program asks.
        if let Scheme::Sliced(it) = self { it.slices() } else { None }
    }
}

impl Scheme {
    /// Reads the scheme of one kind of operation and its keys.
    pub fn read(s: &mut Section) -> Result<Scheme, ConfigError> {
        s.policy("scheme", "how the operation is suspended for a host read", Some("none"), Scheme::ROWS)
    }
}
