//! Observers of an array and their positions in the record of each die.

use super::observer::{DataMove, DieChange, FlashObserver, QueueChange};
use super::power::meter::Meter;

#[derive(Clone, Copy)]
pub(super) enum Event {
    Change(DieChange),
    Move(DataMove),
    Queue(QueueChange),
}

/// Observers and their positions.
#[derive(Clone)]
pub(super) struct Observers {
    /// The meter of the current, if there is one.
    pub(super) meter: Option<Box<Meter>>,
    /// Events for an outside observer, if there is one.
    pub(super) kept: Option<Vec<Event>>,
    /// Changes of each die already reported.
    pub(super) reported: Vec<u64>,
    /// Queue length of each die last reported.
    pub(super) waiting: Vec<u32>,
}

impl Observers {
    pub(super) fn new(meter: Option<Box<Meter>>, dies: u32) -> Observers {
        Observers { meter, kept: None, reported: vec![0; dies as usize], waiting: vec![0; dies as usize] }
    }

    pub(super) fn publish(&mut self, event: Event) {
        if let Some(meter) = &mut self.meter {
            event.to(&mut **meter);
        }
        if let Some(kept) = &mut self.kept {
            kept.push(event);
        }
    }

    /// Data begins to move.
    pub(super) fn notify_move(&mut self, data: DataMove) {
        self.publish(Event::Move(data));
    }
}

impl Event {
    pub(super) fn to(&self, observer: &mut impl FlashObserver) {
        match self {
            Event::Change(change) => observer.die_changed(change),
            Event::Move(data) => observer.data_moves(data),
            Event::Queue(change) => observer.queue_changed(change),
        }
    }
}
