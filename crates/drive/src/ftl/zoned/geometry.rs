//! Address arithmetic of zones: the lanes of a zone, and the program of each of its units.
//!
//! The lanes of a drive are ordered by channel, then chip, die and plane group, so that neighbours are on different
//! channels. A *group* is `width` consecutive lanes of this order; zone z is on group z mod groups, so that consecutive
//! zones are on different dies. Program k of a zone is on lane k mod width of its group.

use super::spec::ZoneSpec;
use crate::ftl::layout::{Layout, UnitAt};
use crate::numbers::{Lane, Lpn, SuperBlock};
use interpulse_engine::{Bytes, Divider};
use interpulse_flash::geometry::Geometry;

/// Address arithmetic of zones.
#[derive(Clone, Debug)]
pub struct ZoneGeometry {
    /// Lanes of a zone.
    pub width: u32,
    /// Super blocks of a zone on each lane.
    pub rows: u32,
    /// Zones of the drive.
    pub zones: u32,
    /// Units of a zone's capacity.
    pub units: u32,
    /// Units between the starts of neighbouring zones, at least `units`.
    pub distance: u32,
    /// Units of a program.
    pub program: u32,
    /// Lanes in the order of the groups.
    order: Vec<Lane>,
    groups: u32,
    by_zone: Divider,
    by_program: Divider,
    by_width: Divider,
    by_block: Divider,
}

/// Unit as an offset in its zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ZoneOffset {
    /// The zone.
    pub zone: u32,
    /// Units between the start of the zone and the unit.
    pub offset: u32,
}

/// Place of a program in its zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProgramPlace {
    /// Index of its super block in the zone.
    pub block: usize,
    /// Position of its lane among those of the zone.
    pub lane: u32,
    /// Program operation in the super block.
    pub program: u32,
}

impl ZoneGeometry {
    /// Zones of `spec` on a drive of `geometry` and `layout` that has at most `logical_units`. Err is the reason why there
    /// are none.
    pub fn new(
        spec: &ZoneSpec,
        geometry: &Geometry,
        layout: &Layout,
        logical_units: u64,
    ) -> Result<ZoneGeometry, String> {
        let width = spec.width.unwrap_or(layout.lanes);
        if !layout.lanes.is_multiple_of(width) {
            let widths = (1..=layout.lanes).filter(|w| layout.lanes.is_multiple_of(*w));
            let legal: Vec<String> = widths.map(|w| w.to_string()).collect();
            return Err(format!(
                "zones of {width} lanes do not divide the {} lanes of the drive; legal: {}",
                layout.lanes,
                legal.join(", ")
            ));
        }
        let units = spec.units(layout);
        let groups = layout.lanes / width;
        let zones = logical_units / units / u64::from(groups) * u64::from(groups);
        if zones == 0 {
            if spec.chunks {
                return Err(format!(
                    "a chunk of {} super blocks has {units} units; one on each of {groups} parallel units does not fit the \
                     {logical_units} units of the drive",
                    spec.rows
                ));
            }
            return Err(format!(
                "a zone of {width} lanes and {} super blocks on each has {units} units; {groups} such zones do not fit the \
                 {logical_units} units of the drive",
                spec.rows
            ));
        }
        let unit = geometry.unit_bytes;
        let distance = spec.distance(layout, unit);
        let whole = spec.size.is_none_or(|size| size.get().is_multiple_of(unit));
        if !whole || distance < units || zones * distance > u64::from(u32::MAX) {
            return Err(format!(
                "ftl.zone-size is a whole number of the drive's logical blocks of {}, from the capacity of a zone, {}, up to {}: \
                 {zones} zones have that many addresses",
                Bytes(unit),
                Bytes(units * unit),
                Bytes(u64::from(u32::MAX) / zones * unit)
            ));
        }
        let (units, zones, distance) = (units as u32, zones as u32, distance as u32);
        Ok(ZoneGeometry {
            width,
            rows: spec.rows,
            zones,
            units,
            distance,
            program: layout.units_per_program,
            order: layout.lanes_by_channel(geometry),
            groups,
            by_zone: Divider::new(distance),
            by_program: Divider::new(layout.units_per_program),
            by_width: Divider::new(width),
            by_block: Divider::new(layout.programs_per_block),
        })
    }

    /// Units that all zones hold.
    pub fn usable_units(&self) -> u32 {
        self.zones * self.units
    }

    /// Addresses of all zones, in units.
    pub fn logical_units(&self) -> u32 {
        self.zones * self.distance
    }

    /// Programs of a zone.
    pub fn programs(&self) -> u32 {
        self.units / self.program
    }

    /// Super blocks of a zone.
    pub fn blocks(&self) -> usize {
        (self.width * self.rows) as usize
    }

    /// Zone and offset of a logical unit.
    #[inline]
    pub fn split(&self, lpn: Lpn) -> ZoneOffset {
        let (zone, offset) = self.by_zone.split(lpn.0);
        ZoneOffset { zone, offset }
    }

    /// First unit of a zone.
    #[inline]
    pub fn first(&self, zone: u32) -> Lpn {
        Lpn(zone * self.distance)
    }

    /// Program of the unit at an offset of a zone, and the position of the unit in it.
    #[inline]
    pub fn program_of(&self, offset: u32) -> (u32, u32) {
        self.by_program.split(offset)
    }

    /// Place of a zone's program.
    #[inline]
    pub fn place(&self, program: u32) -> ProgramPlace {
        let (on_lane, lane) = self.by_width.split(program);
        let (row, program) = self.by_block.split(on_lane);
        ProgramPlace { block: (row * self.width + lane) as usize, lane, program }
    }

    /// The `k`-th lane of a zone.
    #[inline]
    pub fn lane(&self, zone: u32, k: u32) -> Lane {
        self.order[(zone % self.groups * self.width + k) as usize]
    }

    /// The zones that have super blocks of `lane`.
    pub fn zones_of(&self, lane: Lane) -> impl DoubleEndedIterator<Item = u32> + use<> {
        let place = self.order.iter().position(|&of| of == lane).expect("every lane has its place") as u32;
        let (group, groups) = (place / self.width, self.groups);
        (0..self.zones / groups).map(move |k| k * groups + group)
    }

    /// Position of a unit, the `k`-th of the program at `place`, in super block `block`.
    #[inline]
    pub fn unit_at(&self, block: SuperBlock, place: ProgramPlace, k: u32) -> UnitAt {
        UnitAt { super_block: block, offset: place.program * self.program + k }
    }
}
