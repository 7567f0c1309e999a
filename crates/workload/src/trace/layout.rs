//! Placement of the devices of a trace on the drive.

use super::problem::TraceProblem;
use super::scan::Found;
use super::spec::Fit;

/// Alignment of scaled addresses: 4 KiB in sectors.
const SCALE_ALIGNMENT: u64 = 8;

/// Address map from (device, sector) to a sector of the drive.
pub(super) struct Layout {
    regions: Box<[Region]>,
    map: Map,
    capacity: u64,
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
    pub fn new(found: &Found, fit: Fit, capacity: u64) -> Result<Layout, TraceProblem> {
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
        let map = match fit {
            Fit::Error => {
                check_inside(found, capacity)?;
                Map::Same
            }
            Fit::Fold => Map::Fold,
            Fit::Scale => {
                let (first, last) = (&devices[0], &devices[devices.len() - 1]);
                let low = first.placed_at + first.first_sector;
                Map::Scale { low, span: last.placed_at + last.end_sector - low }
            }
        };
        Ok(Layout { regions: regions.into(), map, capacity })
    }

    /// Start of a request on the drive. `None` for a request outside the range found by the first pass: the file has
    /// changed.
    pub fn place(&self, device: u32, sector: u64, sectors: u32) -> Option<Placed> {
        let region = self.regions[device as usize];
        let length = u64::from(sectors);
        if sector < region.first || sector + length > region.end {
            return None;
        }
        let sector = region.base + sector;
        let beyond = sector + length > self.capacity;
        Some(Placed { sector: self.map.place(sector, sectors, self.capacity)?, beyond })
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
