//! Suspension schemes: where a pulse train may stop, what is lost, and what stopping and resuming cost.
//!
//! A scheme only decides; the die owns the mechanism and its legality, so a new scheme cannot corrupt state.
//! Limits ([`SuspendPolicy`]) wrap any scheme. A scheme is one file here plus one line in the registry below;
//! the configuration parser, the error texts, the lists and the conformance tests read the registry.

use crate::pulse::PulseTrain;
use interpulse_engine::Duration;

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

/// Where a train stands when it is asked to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Time spent in phases that count, less than the train's total.
    pub elapsed: Duration,
    /// Whether the loop that begins exactly at `elapsed` has already been commanded: true at the end of a
    /// resume, so that reads which come during it cannot keep a train from ever progressing.
    pub committed: bool,
}

/// What a suspension scheme decides.
///
/// The die calls [`stop`](SuspendScheme::stop) once per suspension, when an operation that may preempt waits
/// and the limits allow it. The die lets the train run on for `after`; if that would finish it, no suspension
/// takes place.
pub trait SuspendScheme {
    /// Where `train` stops and at what cost; `None` if it cannot be stopped.
    fn stop(&self, train: &PulseTrain, at: Progress, costs: &SuspendCosts) -> Option<Stop>;

    /// Whether a committed train ([`Progress::committed`]) is sure to progress before it stops again.
    fn progresses(&self) -> bool {
        true
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
            fn stop(&self, train: &PulseTrain, at: Progress, costs: &SuspendCosts) -> Option<Stop> {
                match self { $(Scheme::$variant => $module::$variant.stop(train, at, costs)),+ }
            }

            fn progresses(&self) -> bool {
                match self { $(Scheme::$variant => $module::$variant.progresses()),+ }
            }
        }
    };
}

schemes! {
    "none" => none::None: "the operation runs to its end; reads wait";
    "ideal" => ideal::Ideal: "stop at once, lose nothing, cost nothing (a bound, not a part)";
    "inter-phase" => inter_phase::InterPhase: "finish the current pulse or verify (Wu and He, FAST'12: IPS)";
    "intra-phase-cancel" => intra_phase_cancel::IntraPhaseCancel: "cancel the current pulse or verify and redo it (Wu and He, FAST'12: IPC)";
    "loop-boundary" => loop_boundary::LoopBoundary: "finish the current loop, pulse and verifies together (Zambelli 2021, Section 3.1)";
}

impl Scheme {
    /// The scheme's name in configurations and results.
    pub fn name(self) -> &'static str {
        Scheme::ALL.iter().find(|(_, s, _)| *s == self).expect("every variant is registered").0
    }
}

/// A scheme with the limits around it, for one kind of operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SuspendPolicy {
    /// The scheme.
    pub scheme: Scheme,
    /// At most this many suspensions of one operation; `None` is no limit.
    pub max_suspends: Option<u32>,
    /// An operation whose train has less than this left is not stopped.
    pub min_remaining: Duration,
    /// The part's costs.
    pub costs: SuspendCosts,
}

impl SuspendPolicy {
    /// The policy of a part that cannot suspend.
    pub const NEVER: SuspendPolicy = SuspendPolicy {
        scheme: Scheme::None,
        max_suspends: Some(0),
        min_remaining: Duration::ZERO,
        costs: SuspendCosts { entry: Duration::ZERO, resume: Duration::ZERO, reset: Duration::ZERO },
    };

    /// Applies limits and scheme: where the train stops, or `None` if it runs on.
    #[inline]
    pub fn stop(&self, train: &PulseTrain, at: Progress, suspends_so_far: u32) -> Option<Stop> {
        if self.max_suspends.is_some_and(|max| suspends_so_far >= max) {
            return None;
        }
        let remaining = train.total() - at.elapsed;
        if remaining < self.min_remaining {
            return None;
        }
        // A stop at the very end is no suspension: the operation is then complete.
        self.scheme.stop(train, at, &self.costs).filter(|stop| stop.after < remaining)
    }
}
