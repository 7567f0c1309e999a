//! Queue: commands on their way to the thread of a drive, bounded.

use super::clock::WallTime;
use super::pacer::Arrived;
use super::suspension::{Change, Wanted};
use super::view::View;
use crate::command::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// State under the lock.
#[derive(Default)]
struct Inner {
    waiting: Vec<Arrived>,
    /// Commands accepted and not delivered.
    accepted: usize,
    /// The thread of the drive sleeps.
    asleep: bool,
    closing: bool,
    /// The thread of the drive has ended, and takes no more commands.
    ended: bool,
    wants_view: bool,
    cuts_power: bool,
    view: Option<Arc<View>>,
    views: u64,
    wanted: Option<Wanted>,
    /// The last change made, until its sender takes it.
    changed: Option<Change>,
}

/// Commands and requests for the thread of a drive.
pub struct Queue {
    inner: Mutex<Inner>,
    /// Wakes the thread of the drive.
    work: Condvar,
    /// Wakes submitters when there is room, and those that wait for a view.
    news: Condvar,
    /// Whether commands wait, readable without the lock.
    any: AtomicBool,
    limit: usize,
    origin: Instant,
}

/// What the thread of the drive takes from its queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taken {
    /// Wall time, not before the arrival of any command taken.
    pub now: WallTime,
    /// No more commands will come.
    pub closing: bool,
    /// A view is wanted.
    pub wants_view: bool,
    /// Power is cut now.
    pub cuts_power: bool,
    /// A change of the suspension is wanted.
    pub wants_change: bool,
}

/// The drive takes no more commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Closed;

impl Queue {
    /// A queue that accepts `limit` commands before the first is delivered.
    pub fn new(limit: usize) -> Queue {
        Queue {
            inner: Mutex::default(),
            work: Condvar::new(),
            news: Condvar::new(),
            any: AtomicBool::new(false),
            limit: limit.max(1),
            origin: Instant::now(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wall time now.
    pub fn now(&self) -> WallTime {
        WallTime(self.origin.elapsed().as_nanos() as u64)
    }

    /// Adds commands, which arrive now; waits while the queue is full.
    ///
    /// # Errors
    /// [`Closed`] if the drive takes no more commands; those not added get no completion.
    pub fn submit(&self, commands: &[Command]) -> Result<(), Closed> {
        let mut left = commands;
        let mut inner = self.lock();
        while !left.is_empty() {
            if inner.closing || inner.ended {
                return Err(Closed);
            }
            let room = self.limit.saturating_sub(inner.accepted).min(left.len());
            if room == 0 {
                inner = self.news.wait(inner).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            let (first, rest) = left.split_at(room);
            // Under the lock, so that arrivals are in the order of the queue and before the instant of the next `take`.
            let at = self.now();
            inner.waiting.extend(first.iter().map(|&command| Arrived { at, command }));
            inner.accepted += room;
            left = rest;
            self.wake(inner);
            if left.is_empty() {
                return Ok(());
            }
            inner = self.lock();
        }
        Ok(())
    }

    /// Wakes the thread of the drive, if it sleeps, after the lock is free: the thread has a higher priority than its waker, and
    /// would preempt it and then wait for the lock.
    fn wake(&self, mut inner: MutexGuard<'_, Inner>) {
        self.any.store(true, Ordering::Release);
        let was_asleep = std::mem::take(&mut inner.asleep);
        drop(inner);
        if was_asleep {
            self.work.notify_one();
        }
    }

    /// Whether something waits for the thread of the drive.
    #[inline]
    pub fn has_work(&self) -> bool {
        self.any.load(Ordering::Acquire)
    }

    /// Counts `delivered` commands as delivered and moves the waiting ones into `to`.
    pub fn take(&self, delivered: usize, to: &mut Vec<Arrived>) -> Taken {
        let mut inner = self.lock();
        if inner.accepted >= self.limit && delivered > 0 {
            self.news.notify_all();
        }
        inner.accepted -= delivered;
        std::mem::swap(&mut inner.waiting, to);
        inner.waiting.clear();
        self.any.store(false, Ordering::Release);
        Taken {
            now: self.now(),
            closing: inner.closing,
            wants_view: std::mem::take(&mut inner.wants_view),
            cuts_power: std::mem::take(&mut inner.cuts_power),
            wants_change: inner.wanted.is_some(),
        }
    }

    /// Sleeps until something waits for the thread of the drive, or until `until`.
    pub fn sleep(&self, until: Option<WallTime>) {
        let mut inner = self.lock();
        while !self.has_work() {
            inner.asleep = true;
            match until.map(|until| until.0.saturating_sub(self.now().0)) {
                None => inner = self.work.wait(inner).unwrap_or_else(PoisonError::into_inner),
                Some(0) => break,
                Some(ns) => {
                    let waited = self.work.wait_timeout(inner, Duration::from_nanos(ns));
                    inner = waited.unwrap_or_else(PoisonError::into_inner).0;
                }
            }
        }
        inner.asleep = false;
    }

    /// Cuts the power of the drive now.
    pub fn cut_power(&self) {
        let mut inner = self.lock();
        inner.cuts_power = true;
        self.wake(inner);
    }

    /// Wants a change of the suspension, one at a time, and waits until the drive has made it; `None` if the drive ends before.
    pub fn change(&self, wanted: Wanted) -> Option<Change> {
        let mut inner = self.lock();
        inner.wanted = Some(wanted);
        self.wake(inner);
        inner = self.lock();
        while inner.changed.is_none() && !inner.ended {
            inner = self.news.wait(inner).unwrap_or_else(PoisonError::into_inner);
        }
        inner.changed.take()
    }

    /// Takes the change that is wanted.
    pub fn take_wanted(&self) -> Option<Wanted> {
        self.lock().wanted.take()
    }

    /// The drive has made the change.
    pub fn changed(&self, change: Change) {
        self.lock().changed = Some(change);
        self.news.notify_all();
    }

    /// Accepts no more commands.
    pub fn close(&self) {
        let mut inner = self.lock();
        inner.closing = true;
        self.wake(inner);
        self.news.notify_all();
    }

    /// The thread of the drive has ended.
    pub fn end(&self) {
        self.lock().ended = true;
        self.news.notify_all();
    }

    /// Publishes a view.
    pub fn publish(&self, view: View) {
        let mut inner = self.lock();
        inner.view = Some(Arc::new(view));
        inner.views += 1;
        self.news.notify_all();
    }

    /// A view of the present; the last one if the drive has ended or takes longer than a second.
    pub fn view(&self) -> Option<Arc<View>> {
        let mut inner = self.lock();
        let (before, late) = (inner.views, Instant::now() + Duration::from_secs(1));
        inner.wants_view = true;
        self.wake(inner);
        inner = self.lock();
        while inner.views == before && !inner.ended {
            let left = late.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            inner = self.news.wait_timeout(inner, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        inner.view.clone()
    }
}

/// Ends the queue when the thread of the drive ends, by a panic too.
pub struct EndsQueue<'q>(pub &'q Queue);

impl Drop for EndsQueue<'_> {
    fn drop(&mut self) {
        self.0.end();
    }
}
