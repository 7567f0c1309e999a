//! Who is told what the dies of an array do.

use super::observe::{DataMove, DieChange, FlashObserver, QueueChange};
use super::power::meter::Meter;

#[derive(Clone, Copy)]
pub(super) enum Event {
    Change(DieChange),
    Move(DataMove),
    Queue(QueueChange),
}

/// Those who are told, and how far that has come.
#[derive(Clone)]
pub(super) struct Watch {
    /// The meter of the current, if there is one.
    pub(super) meter: Option<Box<Meter>>,
    /// Kept for whoever follows the array from outside, if somebody does.
    pub(super) kept: Option<Vec<Event>>,
    /// How many changes of each die have been told.
    pub(super) told: Vec<u64>,
    /// How many transactions were told to wait for each die.
    pub(super) waiting: Vec<u32>,
}

impl Watch {
    pub(super) fn new(meter: Option<Box<Meter>>, dies: u32) -> Watch {
        Watch { meter, kept: None, told: vec![0; dies as usize], waiting: vec![0; dies as usize] }
    }

    pub(super) fn tell(&mut self, event: Event) {
        if let Some(meter) = &mut self.meter {
            event.to(&mut **meter);
        }
        if let Some(kept) = &mut self.kept {
            kept.push(event);
        }
    }

    /// Data begins to move.
    pub(super) fn tell_move(&mut self, data: DataMove) {
        self.tell(Event::Move(data));
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
