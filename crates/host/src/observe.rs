//! Observers of a device's requests: counters, logs, series, timelines.
//!
//! Observers are static: [`()`](unit) observes nothing and costs nothing, a pair combines two observers, and a mutable
//! reference passes an observer that the caller keeps.

use interpulse_engine::{Completion, Duration, Request, RequestId, SimTime, Tag};

/// A submitted request.
#[derive(Clone, Copy, Debug)]
pub struct Submitted {
    /// Time of the submission.
    pub at: SimTime,
    /// The device's number of the request until it completes; `None` while the request waits in the host for a place in its
    /// queue.
    pub id: Option<RequestId>,
    /// The host's tag, as in the completion.
    pub tag: Tag,
    /// Operation and address.
    pub request: Request,
}

/// A completed request.
#[derive(Clone, Copy, Debug)]
pub struct Ended<'a> {
    /// Time of the completion.
    pub at: SimTime,
    /// Time since the submission.
    pub latency: Duration,
    /// The device's completion. The tag is the number of the flow, or one that the caller of `submit` chose.
    pub of: Completion<'a>,
}

/// Receives notifications in the order of simulated time.
pub trait Observer {
    /// A timer is about to be handled: nothing else happens before `now`.
    #[inline]
    fn time_passed(&mut self, _now: SimTime) {}
    /// A request has been submitted.
    #[inline]
    fn request_submitted(&mut self, _submitted: &Submitted) {}
    /// A request that had no number has entered its queue at `now` and has one.
    #[inline]
    fn request_entered(&mut self, _now: SimTime, _submitted: &Submitted) {}
    /// A request has completed.
    #[inline]
    fn request_ended(&mut self, _ended: &Ended) {}
    /// The timer at `now` is handled this much later than the clock of the run shows.
    #[inline]
    fn fell_behind(&mut self, _now: SimTime, _lag: Duration) {}
}

impl Observer for () {}

/// Forwards every notification to each of these observers.
macro_rules! forward {
    ($self:ident => $($each:expr),+) => {
        #[inline]
        fn time_passed(&mut $self, now: SimTime) {
            $($each.time_passed(now);)+
        }
        #[inline]
        fn request_submitted(&mut $self, submitted: &Submitted) {
            $($each.request_submitted(submitted);)+
        }
        #[inline]
        fn request_entered(&mut $self, now: SimTime, submitted: &Submitted) {
            $($each.request_entered(now, submitted);)+
        }
        #[inline]
        fn request_ended(&mut $self, ended: &Ended) {
            $($each.request_ended(ended);)+
        }
        #[inline]
        fn fell_behind(&mut $self, now: SimTime, lag: Duration) {
            $($each.fell_behind(now, lag);)+
        }
    };
}

impl<A: Observer, B: Observer> Observer for (A, B) {
    forward!(self => self.0, self.1);
}

impl<O: Observer> Observer for &mut O {
    forward!(self => (**self));
}
