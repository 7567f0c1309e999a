//! Flow that writes zones: it fills zones in turn, resets the oldest one before it is written again, and reads places
//! that it has written.
//!
//! The flow has no completions to go by. A device executes the commands of a queue in order, and of a closed flow at most
//! `depth` requests are outstanding: all but the last `depth` writes have reached the device and can be read. Of an open
//! flow as many as `ASSUMED_OUTSTANDING` are taken to be outstanding.

mod lists;
pub mod spec;
mod vectors;

use super::clock::Clock;
use super::size::Sizes;
use super::spec::SyntheticPacing;
use crate::error::Illegal;
use crate::spec::Pacing;
use interpulse_engine::{Bytes, Op, Request, Rng, SECTOR, SimTime, Streams, VectorAction, ZoneAction};
use lists::Vectors;
use spec::{AreaSectors, ZoneFlowSpec, ZoneWrites};
use std::collections::VecDeque;
use std::ops::Range;

/// Writes of an open flow that are not read yet.
const ASSUMED_OUTSTANDING: usize = 1024;
/// Draws of a place to read before the zone with most data is taken.
const TRIES: u32 = 64;

pub(crate) struct ZoneFlow {
    writes: Op,
    sizes: Sizes,
    clock: Clock,
    pacing: Pacing,
    operations: Rng,
    addresses: Rng,
    reads_below: u64,
    alignment: u64,
    /// Sectors of a logical block.
    block: u64,
    /// First sector of the first zone.
    base: u64,
    zone_sectors: u64,
    /// Sectors between the starts of neighbouring zones.
    distance: u64,
    zones: Vec<Zone>,
    /// Zones being written.
    open: Vec<Open>,
    turn: usize,
    /// Next zone to open.
    next: usize,
    /// Newest writes, which may not have reached the device, oldest first.
    recent: VecDeque<Write>,
    most_recent: usize,
    /// Random write areas; `None` if the flow does not use them.
    area: Option<AreaSectors>,
    overwrites_below: u64,
    /// Zone management that precedes the next write.
    commands: VecDeque<Request>,
    /// Vector commands, if the flow makes them.
    vectors: Option<Vectors>,
}

#[derive(Clone, Default)]
struct Zone {
    /// The device holds data of it.
    is_written: bool,
    /// Sectors from its start on that can be read.
    readable: u64,
    /// Times that it was reset.
    resets: u32,
}

#[derive(Clone, Copy)]
struct Open {
    zone: usize,
    /// Sectors written.
    written: u64,
    /// Sectors before the random write area.
    committed: u64,
}

#[derive(Clone, Copy)]
struct Write {
    zone: usize,
    resets: u32,
    sectors: u64,
}

impl ZoneFlow {
    pub(crate) fn new(
        spec: &ZoneFlowSpec,
        start: SimTime,
        capacity_sectors: u64,
        streams: &Streams,
        instance: u64,
    ) -> Result<ZoneFlow, Illegal> {
        let stream = |purpose: &str| streams.stream(purpose, instance);
        let zone_sectors = spec.drive.sectors;
        let whole = |size: &Bytes| size.get().is_multiple_of(spec.drive.block.get());
        if let Some(odd) = spec.block_size.every_size().into_iter().find(|size| !whole(size)) {
            return Err(Illegal::new("block-size", odd, format!("multiples of {}", spec.drive.block)));
        }
        let Range { start: first, end } = spec.region(capacity_sectors / spec.drive.distance);
        let numbers: Vec<u64> = spec.numbers(first..end).collect();
        let count = numbers.len() as u64;
        let legal = format!("at most the {count} whole zones of the region from..to");
        Illegal::unless(u64::from(spec.open_zones) <= count, "open-zones", spec.open_zones, legal)?;
        let full = |zone: u64| Zone {
            is_written: zone < spec.drive.full,
            readable: if zone < spec.drive.full { zone_sectors } else { 0 },
            resets: 0,
        };
        let (pacing, most_recent) = match spec.pacing {
            SyntheticPacing::Closed { depth } => (Pacing::Closed { depth }, depth as usize),
            SyntheticPacing::Open { .. } => (Pacing::Open, ASSUMED_OUTSTANDING),
        };
        Ok(ZoneFlow {
            writes: match spec.zones {
                ZoneWrites::Write | ZoneWrites::Zrwa => Op::Write,
                ZoneWrites::Append => Op::Append,
                ZoneWrites::Vector => Op::Vector(VectorAction::Write),
            },
            sizes: Sizes::new(&spec.block_size, stream("workload.size"))?,
            clock: Clock::new(&spec.pacing, start, stream("workload.arrival"))?,
            pacing,
            operations: stream("workload.op"),
            addresses: stream("workload.address"),
            reads_below: Rng::threshold(spec.read_share),
            alignment: spec.alignment.get() / SECTOR.get(),
            block: spec.drive.block.get() / SECTOR.get(),
            base: first * spec.drive.distance,
            zone_sectors,
            distance: spec.drive.distance,
            zones: numbers.iter().map(|&zone| full(zone)).collect(),
            // No zone, which counts as full: the first write of each place opens one.
            open: vec![
                Open { zone: usize::MAX, written: zone_sectors, committed: zone_sectors };
                spec.open_zones as usize
            ],
            turn: 0,
            next: 0,
            recent: VecDeque::new(),
            most_recent: most_recent * spec.vector.map_or(1, |of| of.width as usize),
            area: spec.drive.area.filter(|_| spec.zones == ZoneWrites::Zrwa),
            overwrites_below: Rng::threshold(spec.overwrites),
            commands: VecDeque::new(),
            vectors: Vectors::of(spec, numbers),
        })
    }

    pub(crate) fn pacing(&self) -> Pacing {
        self.pacing
    }

    /// The next request; `None` when its arrival lies beyond representable time.
    pub(crate) fn next(&mut self) -> Option<(SimTime, Request)> {
        let at = self.clock.next()?;
        let reads = self.operations.chance(self.reads_below);
        let request = if reads { self.read() } else { None };
        Some((
            at,
            request
                .unwrap_or_else(|| if self.vectors.is_some() { self.write_vector() } else { self.write() }),
        ))
    }

    /// A read of a place that was written; `None` if there is none.
    fn read(&mut self) -> Option<Request> {
        let sectors = self.sizes.next();
        if self.vectors.is_some() {
            return self.read_vector(sectors);
        }
        let (zone, offset) = self.place_to_read(u64::from(sectors))?;
        Some(self.request(Op::Read, zone, offset, sectors))
    }

    /// Zone and offset of `length` sectors that were written; `None` if there are none.
    fn place_to_read(&mut self, length: u64) -> Option<(usize, u64)> {
        let most = self.zone_sectors.checked_sub(length)?;
        let positions = most / self.alignment + 1;
        for _ in 0..TRIES {
            let zone = self.addresses.below(self.zones.len() as u64);
            let offset = self.addresses.below(positions) * self.alignment;
            if offset + length <= self.zones[zone as usize].readable {
                return Some((zone as usize, offset));
            }
        }
        let (zone, readable) =
            self.zones.iter().map(|zone| zone.readable).enumerate().max_by_key(|&(_, readable)| readable)?;
        let positions = readable.checked_sub(length)? / self.alignment + 1;
        Some((zone, self.addresses.below(positions) * self.alignment))
    }

    /// The next write, or the zone management that must precede it.
    fn write(&mut self) -> Request {
        let place = self.turn;
        if self.open[place].written == self.zone_sectors {
            self.open_next(place);
        }
        if let Some(command) = self.commands.pop_front() {
            return command;
        }
        let Open { zone, written, .. } = self.open[place];
        let sectors = u64::from(self.sizes.next()).min(self.zone_sectors - written);
        if self.area.is_some()
            && self.operations.chance(self.overwrites_below)
            && let Some(request) = self.overwrite(place, sectors)
        {
            return request;
        }
        self.open[place].written += sectors;
        self.commit(place);
        self.turn = (place + 1) % self.open.len();
        self.note_write(zone, sectors);
        let offset = if self.writes == Op::Append { 0 } else { written };
        self.request(self.writes, zone, offset, sectors as u32)
    }

    /// Notes a write of the next `sectors` of a zone; older writes can be read.
    fn note_write(&mut self, zone: usize, sectors: u64) {
        self.recent.push_back(Write { zone, resets: self.zones[zone].resets, sectors });
        if self.recent.len() > self.most_recent {
            let old = self.recent.pop_front().expect("a write was added");
            let of = &mut self.zones[old.zone];
            if of.resets == old.resets {
                of.readable += old.sectors;
            }
        }
        self.zones[zone].is_written = true;
    }

    /// Follows the write pointer of a zone with a random write area: the drive moves it when a write ends behind the area.
    fn commit(&mut self, place: usize) {
        let Some(area) = self.area else { return };
        let Open { zone, written, committed } = self.open[place];
        let beyond = written.saturating_sub(committed + area.sectors);
        self.open[place].committed = committed + beyond.next_multiple_of(area.granularity);
        if written == self.zone_sectors {
            let last = self.zone_sectors - self.block;
            self.commands.push_back(self.request(Op::Zone(ZoneAction::Commit), zone, last, 0));
        }
    }

    /// An overwrite of data in the random write area; `None` if it holds less than `sectors`.
    fn overwrite(&mut self, place: usize, sectors: u64) -> Option<Request> {
        let Open { zone, written, committed } = self.open[place];
        let positions = (written.checked_sub(committed)?).checked_sub(sectors)? / self.block + 1;
        let offset = committed + self.addresses.below(positions) * self.block;
        self.turn = (place + 1) % self.open.len();
        Some(self.request(Op::Write, zone, offset, sectors as u32))
    }

    /// Opens the next zone that is not open at this place, after the commands that it needs.
    fn open_next(&mut self, place: usize) {
        self.open[place].zone = usize::MAX;
        while self.open.iter().any(|open| open.zone == self.next) {
            self.next = (self.next + 1) % self.zones.len();
        }
        let zone = self.next;
        self.next = (self.next + 1) % self.zones.len();
        self.open[place] = Open { zone, written: 0, committed: 0 };
        let of = &mut self.zones[zone];
        if of.is_written {
            *of = Zone { is_written: false, readable: 0, resets: of.resets.wrapping_add(1) };
            self.commands.push_back(self.request(Op::Zone(ZoneAction::Reset), zone, 0, 0));
        }
        if self.area.is_some() {
            self.commands.push_back(self.request(Op::Zone(ZoneAction::OpenZrwa), zone, 0, 0));
        }
    }

    fn request(&self, op: Op, zone: usize, offset: u64, sectors: u32) -> Request {
        Request::new(op, self.base + zone as u64 * self.distance + offset, sectors)
    }
}
