//! What happens at a device's door, for whoever wants to know: counters, logs, series, timelines.
//!
//! Who observes is known when the simulator is compiled: [`()`](unit) is nobody and costs nothing, a pair is two observers
//! (and a pair of pairs four), a mutable reference one that its owner keeps.

use interpulse_engine::{Completion, Duration, Request, RequestId, SimTime, Tag};

/// A request that has been submitted.
#[derive(Clone, Copy, Debug)]
pub struct Submitted {
    /// When.
    pub at: SimTime,
    /// The number by which the device calls it until it ends.
    pub id: RequestId,
    /// What the host calls it, as in its completion.
    pub tag: Tag,
    /// What is asked for.
    pub request: Request,
}

/// A request that has ended.
#[derive(Clone, Copy, Debug)]
pub struct Ended<'a> {
    /// When.
    pub at: SimTime,
    /// How long after its submission.
    pub latency: Duration,
    /// What the device says of it. Its tag is the number of its flow, or what else submitted it calls it.
    pub of: Completion<'a>,
}

/// What is told to an observer, in the order of simulated time.
pub trait Observer {
    /// An event is about to be handled: nothing more happens before `now`.
    #[inline]
    fn time_passed(&mut self, _now: SimTime) {}
    /// A request has been submitted.
    #[inline]
    fn request_submitted(&mut self, _submitted: &Submitted) {}
    /// A request has ended.
    #[inline]
    fn request_ended(&mut self, _ended: &Ended) {}
    /// The event at `now` comes this much later than the clock that the run follows says.
    #[inline]
    fn fell_behind(&mut self, _now: SimTime, _lag: Duration) {}
}

impl Observer for () {}

/// Tells each of these observers everything.
macro_rules! tell {
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
    tell!(self => self.0, self.1);
}

impl<O: Observer> Observer for &mut O {
    tell!(self => (**self));
}
