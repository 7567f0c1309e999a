//! State machine of zones, and the limits of open and active zones (NVMe Zoned Namespace Command Set, section 2.1.1).
//!
//! ```text
//! Empty -- write --> Implicitly Opened -- close, or another zone needs the resource --> Closed -- write --> opened
//!   |                      |  open                                                        ^
//!   +------- open --> Explicitly Opened -------------------- close -----------------------+
//! any of these -- finish, or the last unit written --> Full -- reset --> Empty
//! ```
//!
//! A zone that is opened with a random write area (ZRWA, NVMe TP4076) takes writes anywhere in the `units` behind its write
//! pointer. A write that ends behind them, by at most as many units again, moves the write pointer by whole granules until it ends
//! within the area: an implicit commit. What is before the write pointer is never written again.

use interpulse_engine::Status;
use std::collections::VecDeque;

/// Random write areas, in units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AreaLimits {
    /// Units of an area.
    pub units: u32,
    /// Units of which commits have a whole number.
    pub granularity: u32,
    /// Most zones that have an area at a time.
    pub zones: u32,
}

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
    /// Its flash has failed: it takes no more writes, and no reset.
    ReadOnly,
    /// It has no flash any more.
    Offline,
}

impl ZoneState {
    /// Whether the zone takes an open resource.
    pub fn is_open(self) -> bool {
        matches!(self, ZoneState::ImplicitlyOpened | ZoneState::ExplicitlyOpened)
    }

    /// Whether the zone takes writes.
    fn admits_writes(self) -> Result<(), Status> {
        match self {
            ZoneState::Full => Err(Status::ZoneIsFull),
            ZoneState::ReadOnly => Err(Status::ZoneIsReadOnly),
            ZoneState::Offline => Err(Status::ZoneIsOffline),
            _ => Ok(()),
        }
    }

    /// Whether the state is one of a zone whose flash has failed.
    pub fn has_failed(self) -> bool {
        matches!(self, ZoneState::ReadOnly | ZoneState::Offline)
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
    /// The zone has a random write area.
    pub has_area: bool,
    /// With a random write area, units between the start of the zone and the end of its last write.
    pub extent: u32,
}

/// Units of a write that go to one zone, from its write pointer.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    pub(super) zone: u32,
    pub(super) from: u32,
    pub(super) to: u32,
}

/// States and write pointers of all zones.
#[derive(Clone, Debug)]
pub struct ZoneStates {
    zones: Vec<ZoneDescriptor>,
    /// Units of a zone.
    capacity: u32,
    max_open: u32,
    max_active: u32,
    area: Option<AreaLimits>,
    /// Zones that have a random write area.
    areas: u32,
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
    /// Most random write areas at a time so far.
    pub most_areas: u32,
    /// Times that a write moved the write pointer of a zone with a random write area.
    pub implicit_commits: u64,
}

impl ZoneStates {
    /// Zones of `capacity` units, of which these are written; a full one is Full, and others Empty until [`ZoneStates::resume`].
    pub fn new(
        written: &[u32],
        capacity: u32,
        max_open: u32,
        max_active: u32,
        area: Option<AreaLimits>,
    ) -> ZoneStates {
        let zone = |&written: &u32| {
            let state = if written == capacity { ZoneState::Full } else { ZoneState::Empty };
            ZoneDescriptor { state, written, has_area: false, extent: 0 }
        };
        ZoneStates {
            zones: written.iter().map(zone).collect(),
            capacity,
            max_open,
            max_active,
            area,
            areas: 0,
            open: 0,
            active: 0,
            implicit: VecDeque::new(),
            most_open: 0,
            most_active: 0,
            closed_by_drive: 0,
            most_areas: 0,
            implicit_commits: 0,
        }
    }

    /// Sets the states of zones of which a part is written, or that are finished: Closed or Full.
    pub(super) fn resume(&mut self, zones: impl Iterator<Item = (u32, bool)>) {
        for (zone, is_finished) in zones {
            let of = &mut self.zones[zone as usize];
            let full = is_finished || of.written == self.capacity;
            if !full && of.written > 0 {
                self.active += 1;
                of.state = ZoneState::Closed;
            } else if full {
                of.state = ZoneState::Full;
            }
        }
        self.most_active = self.active;
    }

    /// Zones that can become active beside those that are.
    pub fn inactive_left(&self) -> u32 {
        self.max_active - self.active
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
        let ZoneDescriptor { state, written, has_area, .. } = self.of(zone);
        if u64::from(at) + u64::from(units) > u64::from(self.capacity) {
            return Err(Status::ZoneBoundaryError);
        }
        state.admits_writes()?;
        if has_area {
            return self.write_area(zone, at, units);
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

    /// Takes a write to a zone that has a random write area and commits what must precede it.
    fn write_area(&mut self, zone: u32, at: u32, units: u32) -> Result<(), Status> {
        let limits = self.area.expect("a zone has an area");
        let ZoneDescriptor { state, written, .. } = self.of(zone);
        let (area, end) = (u64::from(limits.units), u64::from(at) + u64::from(units));
        if at < written || end > u64::from(written) + 2 * area {
            return Err(Status::ZoneInvalidWrite);
        }
        if !state.is_open() {
            self.open_as(zone, ZoneState::ImplicitlyOpened)?;
        }
        let beyond = end.saturating_sub(u64::from(written) + area) as u32;
        let of = &mut self.zones[zone as usize];
        of.extent = of.extent.max(end as u32);
        if beyond > 0 {
            self.implicit_commits += 1;
            self.move_pointer(zone, beyond.next_multiple_of(limits.granularity));
        }
        Ok(())
    }

    /// Moves the write pointer of a zone with a random write area by `units`.
    fn move_pointer(&mut self, zone: u32, units: u32) {
        let of = &mut self.zones[zone as usize];
        of.written = (of.written + units).min(self.capacity);
        of.extent = of.extent.max(of.written);
        if of.written == self.capacity {
            self.leave(zone, ZoneState::Full);
        }
    }

    /// Commits the random write area of a zone up to and including the unit at offset `last`.
    pub fn commit(&mut self, zone: u32, last: u32) -> Result<(), Status> {
        let ZoneDescriptor { state, written, has_area, .. } = self.of(zone);
        if !has_area {
            return Err(Status::InvalidZoneOperation);
        }
        let limits = self.area.expect("a zone has an area");
        let units = (u64::from(last) + 1).saturating_sub(u64::from(written)) as u32;
        let whole = units.is_multiple_of(limits.granularity) || last + 1 == self.capacity;
        if units == 0 || units > limits.units || !whole {
            return Err(Status::InvalidField);
        }
        if !state.is_open() {
            self.open_as(zone, ZoneState::ImplicitlyOpened)?;
        }
        self.move_pointer(zone, units);
        Ok(())
    }

    /// Opens an empty zone explicitly with a random write area.
    pub fn open_with_area(&mut self, zone: u32) -> Result<(), Status> {
        let Some(limits) = self.area else { return Err(Status::InvalidField) };
        match self.of(zone).state {
            ZoneState::Empty if self.areas == limits.zones => return Err(Status::ZrwaResourcesUnavailable),
            ZoneState::Empty => {}
            _ => return Err(Status::InvalidZoneOperation),
        }
        self.open_as(zone, ZoneState::ExplicitlyOpened)?;
        self.areas += 1;
        self.most_areas = self.most_areas.max(self.areas);
        let of = &mut self.zones[zone as usize];
        (of.has_area, of.extent) = (true, 0);
        Ok(())
    }

    /// Takes an append of `units`; returns the offset of its data.
    pub fn append(&mut self, zone: u32, units: u32) -> Result<u32, Status> {
        let ZoneDescriptor { state, written, has_area, .. } = self.of(zone);
        state.admits_writes()?;
        if has_area {
            return Err(Status::InvalidZoneOperation);
        }
        self.write(zone, written, units).map(|()| written)
    }

    /// Opens a zone explicitly.
    pub fn open(&mut self, zone: u32) -> Result<(), Status> {
        match self.of(zone).state {
            ZoneState::ExplicitlyOpened => Ok(()),
            ZoneState::Full | ZoneState::ReadOnly | ZoneState::Offline => {
                Err(Status::InvalidZoneStateTransition)
            }
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
            ZoneState::Empty | ZoneState::Full | ZoneState::ReadOnly | ZoneState::Offline => {
                Err(Status::InvalidZoneStateTransition)
            }
            ZoneState::ImplicitlyOpened | ZoneState::ExplicitlyOpened => {
                self.leave(zone, ZoneState::Closed);
                Ok(())
            }
        }
    }

    /// Makes a zone Full and commits its random write area; false if it is.
    pub fn finish(&mut self, zone: u32) -> Result<bool, Status> {
        let ZoneDescriptor { state, .. } = self.of(zone);
        if state.has_failed() {
            return Err(Status::InvalidZoneStateTransition);
        }
        let full = state == ZoneState::Full;
        if !full {
            self.end_writes(zone, ZoneState::Full);
        }
        Ok(!full)
    }

    /// Moves a zone to a state that takes no writes; a random write area is committed.
    pub fn end_writes(&mut self, zone: u32, to: ZoneState) {
        let had_area = self.of(zone).has_area;
        self.leave(zone, to);
        let of = &mut self.zones[zone as usize];
        of.written = if had_area { of.extent } else { of.written };
    }

    /// Gives a read-only zone up, at the command of the host.
    pub fn give_up(&mut self, zone: u32) -> Result<(), Status> {
        match self.of(zone).state {
            ZoneState::Offline => Ok(()),
            ZoneState::ReadOnly => {
                self.take_offline(zone);
                Ok(())
            }
            _ => Err(Status::InvalidZoneStateTransition),
        }
    }

    /// Makes a zone Offline, which is empty or read-only.
    pub fn take_offline(&mut self, zone: u32) {
        let of = &mut self.zones[zone as usize];
        debug_assert!(matches!(of.state, ZoneState::Empty | ZoneState::ReadOnly), "{of:?}");
        *of = ZoneDescriptor { state: ZoneState::Offline, written: 0, has_area: false, extent: 0 };
    }

    /// Makes a zone Empty; returns the units up to the end of the last write.
    pub fn reset(&mut self, zone: u32) -> u32 {
        let had_area = self.of(zone).has_area;
        self.leave(zone, ZoneState::Empty);
        let of = &mut self.zones[zone as usize];
        let (written, extent) = (std::mem::take(&mut of.written), std::mem::take(&mut of.extent));
        if had_area { extent } else { written }
    }

    /// Power is lost. Open zones are Closed, without data and random write area Empty. The write pointer of a zone without such
    /// an area moves to `end`.
    pub fn lose_power(&mut self, zone: u32, end: Option<u32>) {
        let ZoneDescriptor { state, has_area, .. } = self.of(zone);
        if let Some(end) = end {
            self.zones[zone as usize].written = end;
        }
        if state.is_active() {
            let is_empty = end == Some(0) && !has_area;
            self.leave(zone, if is_empty { ZoneState::Empty } else { ZoneState::Closed });
        }
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
        if !to.is_active() {
            self.areas -= u32::from(std::mem::take(&mut self.zones[zone as usize].has_area));
        }
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
        let areas = self.zones.iter().filter(|z| z.has_area).count() as u32;
        if areas != self.areas || areas > self.area.map_or(0, |limits| limits.zones) {
            return Err(format!("{areas} zones have a random write area, counted as {}", self.areas));
        }
        let wrong = |z: &ZoneDescriptor| {
            z.written > self.capacity
                || (z.has_area && !z.state.is_active())
                || (matches!(z.state, ZoneState::Empty | ZoneState::Offline) && z.written > 0)
                || (z.written == self.capacity && !matches!(z.state, ZoneState::Full | ZoneState::ReadOnly))
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
        ZoneStates::new(&[0; 6], 100, max_open, max_active, None)
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
        assert_eq!([0, 0, 1].map(|zone| z.finish(zone)), [Ok(true), Ok(false), Ok(true)]);
        assert_eq!(
            (z.open(0), z.close(0)),
            (Err(InvalidZoneStateTransition), Err(InvalidZoneStateTransition))
        );
        assert_eq!((z.reset(0), z.reset(2), z.open, z.active), (0, 0, 0, 0));
        z.audit().unwrap();
    }

    #[test]
    fn a_random_write_area_takes_writes_behind_the_write_pointer_and_moves_it_by_granules() {
        let area = AreaLimits { units: 16, granularity: 4, zones: 2 };
        let mut z = ZoneStates::new(&[0; 6], 50, 6, 6, Some(area));
        assert_eq!((z.open_with_area(0), z.open_with_area(1)), (Ok(()), Ok(())));
        assert_eq!(
            (z.open_with_area(2), z.open_with_area(1)),
            (Err(ZrwaResourcesUnavailable), Err(InvalidZoneOperation))
        );
        // In the area, in any order and again; its last unit is 15.
        assert_eq!((z.write(0, 12, 4), z.write(0, 0, 3), z.write(0, 12, 4)), (Ok(()), Ok(()), Ok(())));
        assert_eq!((z.of(0).written, z.of(0).extent), (0, 16));
        // One unit behind it, and the last one of the region of implicit commits.
        assert_eq!((z.write(0, 16, 1), z.of(0).written), (Ok(()), 4));
        assert_eq!(
            (z.write(0, 36, 1), z.write(0, 35, 1), z.of(0).written),
            (Err(ZoneInvalidWrite), Ok(()), 20)
        );
        assert_eq!((z.write(0, 19, 1), z.append(0, 1)), (Err(ZoneInvalidWrite), Err(InvalidZoneOperation)));
        assert_eq!(
            (z.commit(0, 22), z.commit(0, 19), z.commit(0, 36)),
            (Err(InvalidField), Err(InvalidField), Err(InvalidField))
        );
        assert_eq!((z.commit(0, 23), z.of(0).written), (Ok(()), 24));
        // The area ends with the zone, and its last commit need not be a whole number of granules.
        assert_eq!((z.write(0, 44, 7), z.write(0, 44, 6)), (Err(ZoneBoundaryError), Ok(())));
        assert_eq!((z.of(0).written, z.commit(0, 49), z.of(0).state), (36, Ok(()), ZoneState::Full));
        assert_eq!((z.commit(0, 49), z.open_with_area(2)), (Err(InvalidZoneOperation), Ok(())));
        // A finished zone keeps what its area held.
        assert_eq!(
            (z.close(1), z.write(1, 3, 2), z.finish(1), z.of(1).written),
            (Ok(()), Ok(()), Ok(true), 5)
        );
        assert_eq!((z.reset(1), z.implicit_commits, z.most_areas), (5, 3, 2));
        z.audit().unwrap();
    }
}
