//! Mapping of addresses onto a capacity: fold or linear, as `fit` of a flow does.

use super::merge::Merged;
use super::outcome::{Overview, RewriteError};
use crate::trace::layout::Map;
use crate::trace::spec::Fit;
use interpulse_engine::{Op, SECTOR};

/// Sectors of a piece of a discard: 4 KiB.
const PIECE: u64 = 8;

/// Address map onto a capacity. Devices are side by side.
pub(super) struct Footprint {
    map: Map,
    capacity: u64,
}

impl Footprint {
    /// Errors: a request that is larger than the capacity.
    pub fn new(capacity: u64, fit: Fit, found: &Overview) -> Result<Footprint, RewriteError> {
        if u64::from(found.largest_sectors) > capacity {
            let (seen, bytes) = (capacity * SECTOR.get(), u64::from(found.largest_sectors) * SECTOR.get());
            return Err(RewriteError::Refused(format!(
                "--capacity: seen {seen} bytes; expected at least {bytes} bytes, the largest request"
            )));
        }
        let low = found.first_sector.min(found.end_sector);
        let map = match fit {
            Fit::Fold => Map::Fold,
            Fit::Error | Fit::Scale => Map::Scale { low, span: (found.end_sector - low).max(1) },
        };
        Ok(Footprint { map, capacity })
    }

    /// Sectors and lengths of a request on the capacity. Each 4 KiB piece of a discard goes where a write of it goes;
    /// contiguous pieces are one request.
    pub fn place(&self, row: &Merged) -> Result<Vec<(u64, u32)>, RewriteError> {
        let place = |sector, sectors| {
            let placed = self.map.place(sector, sectors, self.capacity);
            placed.ok_or_else(|| {
                RewriteError::Refused(format!("{}: the request exceeds the capacity", row.line))
            })
        };
        if row.op != Op::Trim {
            return Ok(vec![(place(row.sector, row.sectors)?, row.sectors)]);
        }
        let (mut sector, end) = (row.sector, row.sector + u64::from(row.sectors));
        // A discard of the whole capacity, or more, discards every sector once.
        if end - sector >= self.capacity && matches!(self.map, Map::Fold) {
            let most = u64::from(u32::MAX);
            let parts = (0..self.capacity.div_ceil(most)).map(|part| part * most);
            return Ok(parts.map(|at| (at, (self.capacity - at).min(most) as u32)).collect());
        }
        let mut placed: Vec<(u64, u32)> = Vec::new();
        while sector < end {
            let sectors = (PIECE - sector % PIECE).min(end - sector) as u32;
            let at = place(sector, sectors)?;
            match placed.last_mut() {
                Some((from, length)) if *from + u64::from(*length) == at => *length += sectors,
                _ => placed.push((at, sectors)),
            }
            sector += u64::from(sectors);
        }
        Ok(placed)
    }
}
