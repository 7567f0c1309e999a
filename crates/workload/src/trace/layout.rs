//! Placement of the devices of a trace on the drive.

use super::problem::TraceProblem;
use super::scan::{Found, PLACE_ALIGNMENT};
use super::spec::{Fit, Repeat, RepeatAddresses};

/// Alignment of scaled addresses: 4 KiB in sectors.
const SCALE_ALIGNMENT: u64 = 8;
/// Highest sector of shifted passes, before `fit`: sums of larger ones could overflow.
const ADDRESSES_MAX: u64 = 1 << 61;

/// Address map from (device, sector) to a sector of the drive.
pub(super) struct Layout {
    regions: Box<[Region]>,
    map: Map,
    capacity: u64,
    /// Sectors by which each pass is shifted.
    stride: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Placed {
    /// First sector on the drive.
    pub sector: u64,
    /// Whether a part exceeded the drive before `fit` moved the request.
    pub beyond: bool,
}

/// Placement of a device, and the sector range found by the first pass.
#[derive(Clone, Copy)]
struct Region {
    base: u64,
    first: u64,
    end: u64,
}

/// Address transformation selected by `fit`.
pub(crate) enum Map {
    Same,
    Fold,
    Scale { low: u64, span: u64 },
}

impl Map {
    /// First sector after the transformation, such that the request ends inside the drive; `None` if it exceeds the
    /// capacity.
    pub fn place(&self, sector: u64, sectors: u32, capacity: u64) -> Option<u64> {
        let last = capacity.checked_sub(u64::from(sectors));
        Some(match *self {
            Map::Same => sector,
            Map::Fold => (sector % capacity).min(last?),
            Map::Scale { low, span } => {
                let scaled = (u128::from(sector - low) * u128::from(capacity) / u128::from(span)) as u64;
                scaled.min(last?) / SCALE_ALIGNMENT * SCALE_ALIGNMENT
            }
        })
    }
}

impl Layout {
    /// Errors if a request exceeds the drive and `fit` does not resolve it.
    pub fn new(found: &Found, fit: Fit, repeat: Repeat, capacity: u64) -> Result<Layout, TraceProblem> {
        if u64::from(found.largest_sectors) > capacity {
            let (line, sectors) = (found.largest_line, found.largest_sectors);
            return Err(TraceProblem::Oversize { line, sectors, capacity });
        }
        let devices = &found.summary.devices;
        let mut regions: Vec<Region> =
            found.extents.iter().map(|e| Region { base: 0, first: e.first, end: e.end }).collect();
        for (&index, device) in found.placed.iter().zip(devices) {
            regions[index].base = device.placed_at;
        }
        let (first, end) = (&devices[0], found.summary.end_sector());
        let low = first.placed_at + first.first_sector;
        let stride = match repeat.addresses {
            RepeatAddresses::Same => 0,
            RepeatAddresses::Shifted => (end - low).next_multiple_of(PLACE_ALIGNMENT),
        };
        if fit == Fit::Error {
            check_inside(found, capacity)?;
        }
        let (passes, shifts) = (repeat.passes, u64::from(repeat.passes - 1));
        let reached = stride.checked_mul(shifts).and_then(|shifted| shifted.checked_add(end));
        let reached = reached.filter(|&reached| reached <= ADDRESSES_MAX).unwrap_or(u64::MAX);
        if stride > 0 && (reached == u64::MAX || fit == Fit::Error && reached > capacity) {
            return Err(TraceProblem::ShiftedBeyond { passes, stride, end: reached, capacity });
        }
        let map = match fit {
            Fit::Error => Map::Same,
            Fit::Fold => Map::Fold,
            // A trace of flushes occupies nothing.
            Fit::Scale => Map::Scale { low, span: (reached - low).max(1) },
        };
        Ok(Layout { regions: regions.into(), map, capacity, stride })
    }

    /// Start of a read or a write of pass `pass` on the drive. `None` for a request outside the range found by the first
    /// pass: the file has changed.
    pub fn place(&self, device: u32, sector: u64, sectors: u32, pass: u32) -> Option<Placed> {
        let sector = self.unmapped(device, sector, sectors, pass)?;
        let beyond = sector + u64::from(sectors) > self.capacity;
        Some(Placed { sector: self.map.place(sector, sectors, self.capacity)?, beyond })
    }

    /// Places a discard: passes its parts (sector and length) on the drive to `each`. Its 4 KiB pieces go where writes of
    /// them go; `None` as for [`Layout::place`].
    pub fn place_discard(
        &self,
        device: u32,
        sector: u64,
        sectors: u32,
        pass: u32,
        mut each: impl FnMut(u64, u32),
    ) -> Option<bool> {
        let from = self.unmapped(device, sector, sectors, pass)?;
        let length = u64::from(sectors);
        let beyond = from + length > self.capacity;
        let mut part = |from: u64, to: u64| {
            let mut from = from;
            while from < to {
                let sectors = (to - from).min(1 << 31);
                each(from, sectors as u32);
                from += sectors;
            }
        };
        match self.map {
            Map::Same => part(from, from + length),
            Map::Fold if length >= self.capacity => part(0, self.capacity),
            Map::Fold => {
                let first = from % self.capacity;
                let end = first + length;
                part(first, end.min(self.capacity));
                part(0, end.saturating_sub(self.capacity));
            }
            Map::Scale { .. } => {
                let piece = length.min(SCALE_ALIGNMENT).min(self.capacity) as u32;
                let place = |sector| self.map.place(sector, piece, self.capacity);
                let last = place(from + length - u64::from(piece))?;
                part(place(from)?, last + u64::from(piece));
            }
        }
        Some(beyond)
    }

    /// Sector in the address space of the whole trace, with its devices side by side.
    fn unmapped(&self, device: u32, sector: u64, sectors: u32, pass: u32) -> Option<u64> {
        let region = self.regions[device as usize];
        let inside = sector >= region.first && sector + u64::from(sectors) <= region.end;
        inside.then(|| region.base + sector + u64::from(pass) * self.stride)
    }
}

fn check_inside(found: &Found, capacity: u64) -> Result<(), TraceProblem> {
    for (device, &index) in found.summary.devices.iter().zip(&found.placed) {
        let end = device.placed_at + device.end_sector;
        if end > capacity {
            let several = found.placed.len() > 1;
            let placed =
                if several { format!(" (placed at sector {})", device.placed_at) } else { String::new() };
            let device = format!("{}{placed}", found.key(index));
            return Err(TraceProblem::Beyond { line: found.extents[index].end_line, device, end, capacity });
        }
    }
    Ok(())
}
