//! Suspension schemes: where a pulse train may stop, what is lost, and what stopping and resuming cost.
//!
//! A scheme only decides; the die owns the mechanism and its legality, so a new scheme cannot corrupt state.
//! Limits ([`policy::SuspendPolicy`]) wrap any scheme, [`eligibility`] says which operations may be stopped at
//! all, [`resume`] when a stopped one goes on. A scheme is one file here plus one line in the registry below;
//! the configuration parser, the error texts, the lists and the conformance tests read the registry.

pub mod eligibility;
pub mod policy;
pub mod resume;

use crate::pulse::PulseTrain;
use interpulse_engine::Duration;

pub use eligibility::{Eligibility, MultiPlane};
pub use policy::{Decision, DeferClock, Preemptors, Reload, Standing, SuspendLimits, SuspendPolicy};
pub use resume::ResumeWhen;

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

/// What a scheme knows when a train is asked to stop.
#[derive(Clone, Copy, Debug)]
pub struct Ask<'a> {
    /// The train.
    pub train: &'a PulseTrain,
    /// Time it has spent in phases that count, less than its total.
    pub elapsed: Duration,
    /// Whether the loop that begins exactly at `elapsed` has already been commanded: true at the end of a
    /// resume, so that reads which come during it cannot keep a train from ever progressing.
    pub committed: bool,
    /// Whether a write has starved for longer than the policy bears ([`policy::DeferClock`]).
    pub overdue: bool,
    /// The part's costs.
    pub costs: &'a SuspendCosts,
}

impl Ask<'_> {
    /// The train runs on for `after` and keeps everything: the part's entry and resume are all it costs.
    #[inline]
    pub fn run_on(&self, after: Duration) -> Stop {
        Stop { after, keeps: self.elapsed + after, entry: self.costs.entry, resume: self.costs.resume }
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

    /// Whether a committed train ([`Ask::committed`]) is sure to progress before it stops again.
    fn progresses(&self) -> bool {
        true
    }

    /// Whether going on costs nothing, whatever the part and the policy say: no page buffer is loaded again, no
    /// pulse has a ramp.
    fn resumes_free(&self) -> bool {
        false
    }
}

/// Declares the registry: the enum, its dispatch, its parser table and its list, from one line per scheme.
macro_rules! schemes {
    ($($name:literal => $module:ident :: $variant:ident : $doc:literal;)+) => {
        $(mod $module;)+

        /// Every suspension scheme, dispatched statically.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Scheme { $(#[doc = $doc] $variant),+ }

        impl Scheme {
            /// Name, value and one line of documentation of every scheme, in registry order.
            pub const ALL: &'static [(&'static str, Scheme, &'static str)] =
                &[$(($name, Scheme::$variant, $doc)),+];
        }

        impl SuspendScheme for Scheme {
            #[inline]
            fn stop(&self, ask: &Ask) -> Option<Stop> {
                match self { $(Scheme::$variant => $module::$variant.stop(ask)),+ }
            }

            fn progresses(&self) -> bool {
                match self { $(Scheme::$variant => $module::$variant.progresses()),+ }
            }

            fn resumes_free(&self) -> bool {
                match self { $(Scheme::$variant => $module::$variant.resumes_free()),+ }
            }
        }
    };
}

schemes! {
    "none" => none::None: "the operation runs to its end; reads wait";
    "ideal" => ideal::Ideal: "stop at once, lose nothing, cost nothing (a bound, not a part; Kim et al., ATC'19: Ideal-ES)";
    "inter-phase" => inter_phase::InterPhase: "finish the current pulse or verify (Wu and He, FAST'12: IPS)";
    "intra-phase-cancel" => intra_phase_cancel::IntraPhaseCancel: "cancel the current pulse or verify and redo it (Wu and He, FAST'12: IPC)";
    "pulse-remainder" => pulse_remainder::PulseRemainder: "cancel with a voltage reset, go on with what is left of the pulse, redo a verify (Wu and He, FAST'12: erase suspension)";
    "exact" => exact::Exact: "stop at once and go on with exactly the time that is left (Kim et al., ATC'19: ES)";
    "immediate" => immediate::Immediate: "stop at once, restart the interrupted loop (Kim et al., ATC'19: I-ES)";
    "deferred" => deferred::Deferred: "finish the current loop (Kim et al., ATC'19: D-ES)";
    "timeout" => timeout::Timeout: "immediate until a write starves for `defer-after`, then deferred (Kim et al., ATC'19: T-ES)";
    "loop-boundary" => loop_boundary::LoopBoundary: "finish the current loop, pulse and verifies together (Zambelli 2021, Section 3.1)";
}

impl Scheme {
    /// The scheme's name in configurations and results.
    pub fn name(self) -> &'static str {
        Scheme::ALL.iter().find(|(_, s, _)| *s == self).expect("every variant is registered").0
    }
}
