//! Audit of the log-block FTL at the end of a run, and its diagnostics.

use super::geometry::LogicalBlock;
use super::log_block_ftl::LogBlockFtl;
use super::logs::LogBlock;
use super::map::Place;
use crate::ftl::block_pool::NO_BLOCK;
use crate::numbers::{Lane, Lpn, Ppu, SuperBlock};

impl LogBlockFtl {
    /// Super blocks that hold data or are being filled.
    pub(super) fn used_blocks(&self) -> impl Iterator<Item = SuperBlock> {
        let merges = self.lanes.iter().filter_map(|lane| lane.merge.as_ref());
        // The super block of a partial merge is that of a log block, of a merge in place the data block.
        let filled = merges.filter(|of| {
            of.in_place.is_none() && !of.logs.iter().any(|&log| self.logs.get(log).block == of.to)
        });
        let logs = self.logs_by_lane().map(|(_, log)| log.block);
        self.map.data_blocks().chain(logs).chain(filled.map(|of| of.to)).filter(|&block| block != NO_BLOCK)
    }

    /// Log blocks with their lanes.
    fn logs_by_lane(&self) -> impl Iterator<Item = (Lane, &LogBlock)> {
        let lanes = Lane::first(self.layout.lanes).zip(&self.lanes);
        lanes.flat_map(move |(lane, of)| {
            of.logs.iter().chain(&of.sequential).map(move |&log| (lane, self.logs.get(log)))
        })
    }

    /// Checks map, log blocks, data blocks and dirty units against each other. Returns the units on flash.
    pub(super) fn audit(&self) -> Result<u64, String> {
        self.blocks.audit(self.used_blocks())?;
        self.dirty.audit(&self.cache)?;
        for (lane, log) in self.logs_by_lane() {
            self.audit_log(lane, log)?;
        }
        for (lane, of) in Lane::first(self.layout.lanes).zip(&self.lanes) {
            let most = self.spec.log_blocks as usize;
            if of.logs.len() > most {
                return Err(format!("lane {lane} has {} log blocks, at most {most}", of.logs.len()));
            }
        }
        let dirty: u32 = self.lanes.iter().map(|of| of.dirty).sum();
        if dirty != self.cache.dirty_total() {
            return Err(format!(
                "the lanes count {dirty} dirty units, the cache {}",
                self.cache.dirty_total()
            ));
        }
        let mut on_flash = 0;
        for lpn in Lpn::first(self.geometry.logical_units()) {
            on_flash += u64::from(self.audit_unit(lpn)?);
        }
        Ok(on_flash)
    }

    fn audit_log(&self, lane: Lane, log: &LogBlock) -> Result<(), String> {
        let (written, lane_of) = (log.units.len() as u32, self.layout.lane_of(log.block).0);
        let own = |block: LogicalBlock| self.geometry.lane(block) == lane;
        let legal =
            |lpn: &&Lpn| lpn.0 < self.geometry.logical_units() && own(self.geometry.split(**lpn).block);
        let units = log.units.iter().filter(|lpn| **lpn != super::logs::NO_UNIT);
        let of_one = |block| units.clone().all(|&lpn| self.geometry.split(lpn).block == block);
        if lane_of != lane
            || written != log.programs * self.geometry.program
            || !units.clone().all(|lpn| legal(&lpn))
            || !log.of.is_none_or(|block| own(block) && of_one(block))
        {
            return Err(format!("lane {lane} has the log block {log:?}"));
        }
        Ok(())
    }

    /// Checks the place of a unit; true if it is on flash.
    fn audit_unit(&self, lpn: Lpn) -> Result<bool, String> {
        let at = self.geometry.split(lpn);
        match self.map.place(lpn) {
            Place::Nowhere => Ok(false),
            Place::Cache(slot) if self.cache.lpn(slot) == lpn => Ok(false),
            Place::Cache(slot) => {
                Err(format!("unit {lpn} is in slot {slot}, which holds {}", self.cache.lpn(slot)))
            }
            Place::DataBlock if self.is_in_memory(lpn) => Ok(true),
            Place::DataBlock => {
                let data = self.map.data(at.block);
                let program = at.offset / self.geometry.program;
                if data == NO_BLOCK || !self.sub_blocks.is_programmed(data, program) {
                    return Err(format!(
                        "unit {lpn} is in the data block {data} and was not programmed there"
                    ));
                }
                Ok(true)
            }
            Place::Log(ppu) if self.unit_of_log(ppu) == Some(lpn) => Ok(true),
            Place::Log(ppu) => {
                Err(format!("unit {lpn} is in unit {ppu}, which holds {:?}", self.unit_of_log(ppu)))
            }
        }
    }

    /// Unit in a physical unit of a log block; `None` of another super block.
    fn unit_of_log(&self, ppu: Ppu) -> Option<Lpn> {
        let at = self.layout.split(ppu);
        let lane = self.layout.lane_of(at.super_block).0;
        let of = &self.lanes[lane.index()];
        let mut logs = of.logs.iter().chain(&of.sequential).map(|&log| self.logs.get(log));
        logs.find(|log| log.block == at.super_block)?.units.get(at.offset as usize).copied()
    }

    /// Lanes that cannot continue, for diagnostics.
    pub(super) fn diagnosis(&self) -> String {
        let waits = |lane: &Lane| self.lanes[lane.index()].waits;
        let waiting: Vec<Lane> = Lane::first(self.layout.lanes).filter(waits).collect();
        match waiting.first() {
            None => format!("{} log blocks, no lane waits for a merge", self.logs.live()),
            Some(&lane) => format!(
                "{} lanes wait for a merge or an erase, such as {lane}, which has {} erased blocks and the merge {:?}",
                waiting.len(),
                self.blocks.free[lane.index()].len(),
                self.lanes[lane.index()].merge
            ),
        }
    }
}
