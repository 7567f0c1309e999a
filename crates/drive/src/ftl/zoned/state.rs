//! State machine of zones, and the limits of open and active zones (NVMe Zoned Namespace Command Set, section 2.1.1).
//!
//! ```text
//! Empty -- write --> Implicitly Opened -- close, or another zone needs the resource --> Closed -- write --> opened
//!   |                      |  open                                                        ^
//!   +------- open --> Explicitly Opened -------------------- close -----------------------+
//! any of these -- finish, or the last unit written --> Full -- reset --> Empty
//! ```
//!
//! No zone becomes Read Only or Offline: blocks do not fail.

use interpulse_engine::Status;
use std::collections::VecDeque;

/// State of a zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ZoneState {
    /// Nothing written since the reset.
    Empty,
    /// Opened by a write; the drive may close it.
    ImplicitlyOpened,
    /// Opened by the host.
    ExplicitlyOpened,
    /// Active, but not open.
    Closed,
    /// It takes no more writes.
    Full,
}

impl ZoneState {
    /// Whether the zone takes an open resource.
    pub fn is_open(self) -> bool {
        matches!(self, ZoneState::ImplicitlyOpened | ZoneState::ExplicitlyOpened)
    }

    /// Whether the zone takes an active resource.
    pub fn is_active(self) -> bool {
        self.is_open() || self == ZoneState::Closed
    }
}

/// Zone as a report describes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ZoneDescriptor {
    /// State.
    pub state: ZoneState,
    /// Units between the start of the zone and its write pointer.
    pub written: u32,
}

/// States and write pointers of all zones.
#[derive(Clone, Debug)]
pub struct ZoneStates {
    zones: Vec<ZoneDescriptor>,
    /// Units of a zone.
    capacity: u32,
    max_open: u32,
    max_active: u32,
    open: u32,
    active: u32,
    /// Implicitly opened zones, in the order in which they were opened.
    implicit: VecDeque<u32>,
    /// Most zones open at a time so far.
    pub most_open: u32,
    /// Most zones active at a time so far.
    pub most_active: u32,
    /// Zones that were closed because another zone needed the open resource.
    pub closed_by_drive: u64,
}

impl ZoneStates {
    /// Zones of `capacity` units, of which these are written; a full one is Full.
    pub fn new(written: &[u32], capacity: u32, max_open: u32, max_active: u32) -> ZoneStates {
        let zone = |&written: &u32| {
            debug_assert!(written == 0 || written == capacity, "an initial zone is empty or full");
            let state = if written == 0 { ZoneState::Empty } else { ZoneState::Full };
            ZoneDescriptor { state, written }
        };
        ZoneStates {
            zones: written.iter().map(zone).collect(),
            capacity,
            max_open,
            max_active,
            open: 0,
            active: 0,
            implicit: VecDeque::new(),
            most_open: 0,
            most_active: 0,
            closed_by_drive: 0,
        }
    }

    /// State and write pointer of a zone.
    #[inline]
    pub fn of(&self, zone: u32) -> ZoneDescriptor {
        self.zones[zone as usize]
    }

    /// Every zone.
    pub fn all(&self) -> &[ZoneDescriptor] {
        &self.zones
    }

    /// Takes a write of `units` at offset `at` and moves the write pointer behind it.
    pub fn write(&mut self, zone: u32, at: u32, units: u32) -> Result<(), Status> {
        let ZoneDescriptor { state, written } = self.of(zone);
        if u64::from(at) + u64::from(units) > u64::from(self.capacity) {
            return Err(Status::ZoneBoundaryError);
        }
        if state == ZoneState::Full {
            return Err(Status::ZoneIsFull);
        }
        if at != written {
            return Err(Status::ZoneInvalidWrite);
        }
        if !state.is_open() {
            self.open_as(zone, ZoneState::ImplicitlyOpened)?;
        }
        let zone_of = &mut self.zones[zone as usize];
        zone_of.written += units;
        if zone_of.written == self.capacity {
            self.leave(zone, ZoneState::Full);
        }
        Ok(())
    }

    /// Takes an append of `units`; returns the offset of its data.
    pub fn append(&mut self, zone: u32, units: u32) -> Result<u32, Status> {
        let ZoneDescriptor { state, written } = self.of(zone);
        if state == ZoneState::Full {
            return Err(Status::ZoneIsFull);
        }
        self.write(zone, written, units).map(|()| written)
    }

    /// Opens a zone explicitly.
    pub fn open(&mut self, zone: u32) -> Result<(), Status> {
        match self.of(zone).state {
            ZoneState::ExplicitlyOpened => Ok(()),
            ZoneState::Full => Err(Status::InvalidZoneStateTransition),
            ZoneState::ImplicitlyOpened => {
                self.implicit.retain(|&other| other != zone);
                self.zones[zone as usize].state = ZoneState::ExplicitlyOpened;
                Ok(())
            }
            ZoneState::Empty | ZoneState::Closed => self.open_as(zone, ZoneState::ExplicitlyOpened),
        }
    }

    /// Closes a zone.
    pub fn close(&mut self, zone: u32) -> Result<(), Status> {
        match self.of(zone).state {
            ZoneState::Closed => Ok(()),
            ZoneState::Empty | ZoneState::Full => Err(Status::InvalidZoneStateTransition),
            ZoneState::ImplicitlyOpened | ZoneState::ExplicitlyOpened => {
                self.leave(zone, ZoneState::Closed);
                Ok(())
            }
        }
    }

    /// Makes a zone Full; false if it is.
    pub fn finish(&mut self, zone: u32) -> bool {
        let full = self.of(zone).state == ZoneState::Full;
        if !full {
            self.leave(zone, ZoneState::Full);
        }
        !full
    }

    /// Makes a zone Empty; returns the units that were written.
    pub fn reset(&mut self, zone: u32) -> u32 {
        self.leave(zone, ZoneState::Empty);
        std::mem::take(&mut self.zones[zone as usize].written)
    }

    /// Opens a zone that is not open, as far as the limits allow.
    fn open_as(&mut self, zone: u32, state: ZoneState) -> Result<(), Status> {
        let before = self.of(zone).state;
        if !before.is_active() && self.active == self.max_active {
            return Err(Status::TooManyActiveZones);
        }
        if self.open == self.max_open {
            // The one that has been open for the longest time; an explicitly opened zone is closed by the host only.
            let Some(&oldest) = self.implicit.front() else { return Err(Status::TooManyOpenZones) };
            self.leave(oldest, ZoneState::Closed);
            self.closed_by_drive += 1;
        }
        self.active += u32::from(!before.is_active());
        self.open += 1;
        self.most_open = self.most_open.max(self.open);
        self.most_active = self.most_active.max(self.active);
        if state == ZoneState::ImplicitlyOpened {
            self.implicit.push_back(zone);
        }
        self.zones[zone as usize].state = state;
        Ok(())
    }

    /// Moves a zone to a state that is not open, and releases what that does not need.
    fn leave(&mut self, zone: u32, to: ZoneState) {
        let from = std::mem::replace(&mut self.zones[zone as usize].state, to);
        if from == ZoneState::ImplicitlyOpened {
            self.implicit.retain(|&other| other != zone);
        }
        self.open -= u32::from(from.is_open());
        self.active -= u32::from(from.is_active() && !to.is_active());
    }

    /// Checks the counts against the states.
    pub fn audit(&self) -> Result<(), String> {
        let count =
            |holds: fn(ZoneState) -> bool| self.zones.iter().filter(|z| holds(z.state)).count() as u32;
        let (open, active) = (count(ZoneState::is_open), count(ZoneState::is_active));
        if (open, active) != (self.open, self.active) || open > self.max_open || active > self.max_active {
            return Err(format!(
                "{open} zones are open and {active} active, counted as {} and {}, at most {} and {}",
                self.open, self.active, self.max_open, self.max_active
            ));
        }
        let wrong = |z: &ZoneDescriptor| {
            z.written > self.capacity
                || (z.state == ZoneState::Empty && z.written > 0)
                || (z.written == self.capacity && z.state != ZoneState::Full)
        };
        match self.zones.iter().position(wrong) {
            Some(zone) => Err(format!("zone {zone} is {:?}", self.zones[zone])),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Status::*;

    fn zones(max_open: u32, max_active: u32) -> ZoneStates {
        ZoneStates::new(&[0; 6], 100, max_open, max_active)
    }

    #[test]
    fn a_write_moves_the_write_pointer_until_the_zone_is_full() {
        let mut z = zones(6, 6);
        assert_eq!(z.write(0, 4, 4), Err(ZoneInvalidWrite));
        assert_eq!(z.write(0, 0, 101), Err(ZoneBoundaryError));
        assert_eq!((z.write(0, 0, 60), z.of(0).written), (Ok(()), 60));
        assert_eq!(z.of(0).state, ZoneState::ImplicitlyOpened);
        assert_eq!((z.append(0, 30), z.append(0, 11)), (Ok(60), Err(ZoneBoundaryError)));
        assert_eq!(z.append(0, 10), Ok(90));
        assert_eq!((z.of(0).state, z.open, z.active), (ZoneState::Full, 0, 0));
        assert_eq!((z.write(0, 0, 1), z.append(0, 1)), (Err(ZoneIsFull), Err(ZoneIsFull)));
        assert_eq!((z.reset(0), z.of(0).state, z.of(0).written), (100, ZoneState::Empty, 0));
    }

    #[test]
    fn an_implicitly_opened_zone_gives_way_and_an_explicitly_opened_one_does_not() {
        let mut z = zones(2, 3);
        assert_eq!((z.write(0, 0, 1), z.write(1, 0, 1), z.write(2, 0, 1)), (Ok(()), Ok(()), Ok(())));
        assert_eq!([0, 1, 2].map(|k| z.of(k).state.is_open()), [false, true, true]);
        assert_eq!((z.of(0).state, z.closed_by_drive), (ZoneState::Closed, 1));
        assert_eq!(z.write(3, 0, 1), Err(TooManyActiveZones));
        assert_eq!((z.open(1), z.open(2)), (Ok(()), Ok(())));
        assert_eq!((z.write(0, 1, 1), z.open(0)), (Err(TooManyOpenZones), Err(TooManyOpenZones)));
        assert_eq!((z.close(1), z.write(0, 1, 1)), (Ok(()), Ok(())));
        assert_eq!((z.most_open, z.most_active), (2, 3));
        z.audit().unwrap();
    }

    #[test]
    fn each_state_admits_the_commands_of_the_specification() {
        let mut z = zones(6, 6);
        assert_eq!(z.close(0), Err(InvalidZoneStateTransition));
        assert_eq!((z.open(0), z.open(0), z.close(0), z.close(0)), (Ok(()), Ok(()), Ok(()), Ok(())));
        assert_eq!((z.of(0).state, z.active), (ZoneState::Closed, 1));
        assert!(z.finish(0) && !z.finish(0) && z.finish(1));
        assert_eq!(
            (z.open(0), z.close(0)),
            (Err(InvalidZoneStateTransition), Err(InvalidZoneStateTransition))
        );
        assert_eq!((z.reset(0), z.reset(2), z.open, z.active), (0, 0, 0, 0));
        z.audit().unwrap();
    }
}
