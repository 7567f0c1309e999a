//! Suspension schemes: where a pulse train may stop, what is lost, and what stopping and resuming cost.
//!
//! A scheme only decides; the die owns the mechanism and its legality, so a new scheme cannot corrupt state.
//! Limits ([`policy::SuspendPolicy`]) wrap any scheme, [`eligibility`] says which operations may be stopped at
//! all, [`resume`] when a stopped one goes on. A scheme is one file here, which declares keys of its own if it has any,
//! plus one line in the registry below; the configuration parser, the error texts, the page of keys, the lists and the
//! conformance tests read both.

pub mod eligibility;
pub mod policy;
pub mod resume;

use crate::pulse::PulseTrain;
use interpulse_engine::{Duration, SimTime};
use interpulse_settings::{ConfigError, Section, registry};

pub use deferred::{Deferred, SafePointEntry};
pub use eligibility::{Eligibility, MultiPlane};
pub use policy::{Decision, Preemptors, Reload, SuspendLimits, SuspendPolicy};
pub use resume::ResumeWhen;
pub use timeout::{DeferClock, Timeout};

/// The part's own costs of stopping one kind of operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SuspendCosts {
    /// From the legal stop until the die accepts a read.
    pub entry: Duration,
    /// From the resume command until the train makes progress again.
    pub resume: Duration,
    /// Discharging the word lines when a phase is cancelled.
    pub reset: Duration,
}

/// A scheme's answer to "stop".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stop {
    /// How much longer the train runs before it halts.
    pub after: Duration,
    /// The progress it keeps; at most the progress at the halt.
    pub keeps: Duration,
    /// From the halt until the die accepts a read.
    pub entry: Duration,
    /// From the resume command until the train makes progress again.
    pub resume: Duration,
}

/// How often and how long an operation has been suspended so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Suspended {
    /// Suspensions, the present one included.
    pub times: u32,
    /// When the first began; meaningless before.
    pub first: SimTime,
    /// Time spent suspended, from halts to resumed pulses.
    pub spent: Duration,
}

/// Where an operation stands when it is asked to stop.
#[derive(Clone, Copy, Debug)]
pub struct Standing<'a> {
    /// Its train.
    pub train: &'a PulseTrain,
    /// Progress, less than the train's total.
    pub elapsed: Duration,
    /// Whether the loop that begins exactly at `elapsed` has already been commanded: true at the end of a
    /// resume, so that reads which come during it cannot keep a train from ever progressing.
    pub committed: bool,
    /// Planes it spans.
    pub planes: u32,
    /// Suspensions so far.
    pub suspends: u32,
    /// When it was first suspended; meaningless before.
    pub first_suspend: SimTime,
    /// When it last went on after a suspension; meaningless before the first.
    pub resumed: SimTime,
    /// Time it has spent suspended, from halts to resumed pulses.
    pub suspended: Duration,
    /// Now.
    pub now: SimTime,
    /// When the host write that has waited longest was submitted, if one waits.
    pub oldest_write: Option<SimTime>,
}

impl Standing<'_> {
    /// How often and how long it has been suspended.
    #[inline]
    pub fn suspended_so_far(&self) -> Suspended {
        Suspended { times: self.suspends, first: self.first_suspend, spent: self.suspended }
    }
}

/// What a scheme knows when a train is asked to stop.
#[derive(Clone, Copy, Debug)]
pub struct Ask<'a> {
    /// Where the operation stands.
    pub at: &'a Standing<'a>,
    /// The part's costs.
    pub costs: &'a SuspendCosts,
}

impl Ask<'_> {
    /// The train runs on for `after` and keeps everything: the part's entry and resume are all it costs.
    #[inline]
    pub fn run_on(&self, after: Duration) -> Stop {
        Stop { after, keeps: self.at.elapsed + after, entry: self.costs.entry, resume: self.costs.resume }
    }

    /// The train halts now and keeps only `keeps`.
    #[inline]
    pub fn cut(&self, keeps: Duration) -> Stop {
        Stop { after: Duration::ZERO, keeps, entry: self.costs.entry, resume: self.costs.resume }
    }

    /// As [`Ask::cut`], and the word lines are discharged before anything else.
    #[inline]
    pub fn cut_and_reset(&self, keeps: Duration) -> Stop {
        Stop { entry: self.costs.reset + self.costs.entry, ..self.cut(keeps) }
    }
}

/// What a suspension scheme decides.
///
/// The die calls [`stop`](SuspendScheme::stop) once per suspension, when an operation that may preempt waits
/// and the limits allow it. The die lets the train run on for `after`; if that would finish it, no suspension
/// takes place.
pub trait SuspendScheme {
    /// Where the train stops and at what cost; `None` if it cannot be stopped.
    fn stop(&self, ask: &Ask) -> Option<Stop>;

    /// Whether a committed train ([`Standing::committed`]) is sure to progress before it stops again.
    fn progresses(&self) -> bool {
        true
    }

    /// Whether going on costs nothing, whatever the part and the policy say: no page buffer is loaded again, no
    /// pulse has a ramp.
    fn resumes_free(&self) -> bool {
        false
    }

    /// Whether it looks at host writes that wait for the write cache ([`Standing::oldest_write`]).
    fn watches_writes(&self) -> bool {
        false
    }
}

registry! {
    $ /// Every suspension scheme, dispatched statically.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Scheme, each_scheme {
        "none" => none::None: "the operation runs to its end; reads wait";
        "ideal" => ideal::Ideal: "stop at once, lose nothing, cost nothing (a bound, not a part; Kim et al., ATC'19: Ideal-ES)";
        "inter-phase" => inter_phase::InterPhase: "finish the current pulse or verify (Wu and He, FAST'12: IPS)";
        "intra-phase-cancel" => intra_phase_cancel::IntraPhaseCancel: "cancel the current pulse or verify and redo it (Wu and He, FAST'12: IPC)";
        "pulse-remainder" => pulse_remainder::PulseRemainder: "cancel with a voltage reset, go on with what is left of the pulse, redo a verify (Wu and He, FAST'12: erase suspension)";
        "exact" => exact::Exact: "stop at once and go on with exactly the time that is left (Kim et al., ATC'19: ES)";
        "immediate" => immediate::Immediate: "stop at once, restart the interrupted loop (Kim et al., ATC'19: I-ES)";
        "deferred" => deferred::Deferred(it): "finish the current loop (Kim et al., ATC'19: D-ES)";
        "timeout" => timeout::Timeout(it): "immediate until a write starves for `defer-after`, then deferred (Kim et al., ATC'19: T-ES)";
        "loop-boundary" => loop_boundary::LoopBoundary: "finish the current loop, pulse and verifies together (Zambelli 2021, Section 3.1)";
    }
}

impl SuspendScheme for Scheme {
    #[inline]
    fn stop(&self, ask: &Ask) -> Option<Stop> {
        each_scheme!(self, it => it.stop(ask))
    }

    fn progresses(&self) -> bool {
        each_scheme!(self, it => it.progresses())
    }

    fn resumes_free(&self) -> bool {
        each_scheme!(self, it => it.resumes_free())
    }

    fn watches_writes(&self) -> bool {
        each_scheme!(self, it => it.watches_writes())
    }
}

impl Scheme {
    /// Reads the scheme of one kind of operation, and that scheme's own keys.
    pub fn read(s: &mut Section) -> Result<Scheme, ConfigError> {
        s.policy("scheme", "how the operation is suspended for a host read", Some("none"), Scheme::ROWS)
    }
}
