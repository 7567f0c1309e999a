//! Parked state of a drive with log blocks, and its numbers in the supplement of a snapshot.
//!
//! Log blocks stay open. Units of the write cache are in that of the next drive.

use super::geometry::LogicalBlock;
use super::kept_logs::{KeptLane, KeptLogs};
use super::log_block_ftl::LogBlockFtl;
use super::logs::{LogBlock, NO_LOG, NO_UNIT};
use super::map::Place;
use super::spec::Association;
use super::sub_blocks::SubBlocks;
use super::tables::LogBlockTables;
use crate::ftl::Supplement;
use crate::ftl::block_pool::NO_BLOCK;
use crate::numbers::{Lane, Lpn, Ppu, SuperBlock};

/// No logical block.
const NONE: u32 = u32::MAX;
/// Entries of units that are on no log block.
const NOWHERE: u32 = u32::MAX;
const IN_DATA_BLOCK: u32 = u32::MAX - 1;
const IN_CACHE: u32 = u32::MAX - 2;

impl LogBlockFtl {
    /// Data blocks, log blocks and map as the start of another run.
    ///
    /// # Errors
    /// While a merge or programs have to end.
    pub(crate) fn parked(&self) -> Result<LogBlockTables, String> {
        let works = |of: &super::logs::LogLane| of.merge.is_some() || of.victim.is_some();
        if self.programs.live() > 0 || self.lanes.iter().any(works) {
            return Err("merges were interrupted: let the drive rest first".into());
        }
        let mut tables = LogBlockTables::new(self.sub_blocks.layout.clone(), self.geometry.clone());
        tables.cycles.clone_from(&self.sub_blocks.cycles);
        tables.free.clone_from(&self.blocks.free);
        tables.data = self.map.data_blocks().collect();
        let entry = |lpn| match self.map.place(lpn) {
            Place::Nowhere => NOWHERE,
            Place::DataBlock => IN_DATA_BLOCK,
            Place::Cache(_) => IN_CACHE,
            Place::Log(ppu) => ppu.0,
        };
        let lane = |of: &super::logs::LogLane| KeptLane {
            logs: (of.logs.iter().map(|&log| (self.logs.get(log).clone(), false)))
                .chain(of.sequential.map(|log| (self.logs.get(log).clone(), true)))
                .collect(),
            starting: of.starting,
            was_sequential: of.was_sequential,
        };
        tables.kept = Some(Box::new(KeptLogs {
            entries: Lpn::first(self.geometry.logical_units()).map(entry).collect(),
            programs_done: self.sub_blocks.programs_done.clone(),
            erased_apart: self.sub_blocks.erased_apart.clone(),
            clock: self.clock,
            lanes: self.lanes.iter().map(lane).collect(),
        }));
        Ok(tables)
    }

    /// Continues with the log blocks and the cached units of an earlier run.
    pub(super) fn resume(&mut self, kept: KeptLogs) {
        self.clock = kept.clock;
        self.sub_blocks.programs_done = kept.programs_done;
        self.sub_blocks.erased_apart = kept.erased_apart;
        for (l, KeptLane { logs, starting, was_sequential }) in kept.lanes.into_iter().enumerate() {
            (self.lanes[l].starting, self.lanes[l].was_sequential) = (starting, was_sequential);
            for (log, is_stream) in logs {
                let of = log.of;
                let id = self.logs.insert(log);
                if is_stream {
                    self.lanes[l].sequential = Some(id);
                    continue;
                }
                self.lanes[l].logs.push(id);
                if let (Some(block), false) = (of, self.log_of.is_empty()) {
                    debug_assert_eq!(self.log_of[block.index()], NO_LOG);
                    self.log_of[block.index()] = id;
                }
            }
        }
        let starting: Vec<_> = self.lanes.iter().map(|of| of.starting).collect();
        for (lpn, entry) in Lpn::first(self.geometry.logical_units()).zip(kept.entries) {
            match entry {
                NOWHERE => {}
                IN_DATA_BLOCK => self.map.set(lpn, Place::DataBlock),
                IN_CACHE => drop(self.admit(lpn)),
                ppu => self.map.set(lpn, Place::Log(Ppu(ppu))),
            }
        }
        for (of, starting) in self.lanes.iter_mut().zip(starting) {
            of.starting = starting;
        }
    }
}

impl LogBlockTables {
    /// Super blocks in use, by the lists of a state after a run.
    fn used_after_run(&self, kept: &KeptLogs) -> Vec<SuperBlock> {
        let logs = kept.lanes.iter().flat_map(|lane| &lane.logs).map(|(log, _)| log.block);
        self.data.iter().copied().filter(|&block| block != NO_BLOCK).chain(logs).collect()
    }

    /// The tables of a snapshot: an erased drive of the same wear, if a run has left other state.
    pub(super) fn of_snapshot(&self) -> LogBlockTables {
        let mut tables = self.clone();
        if let Some(kept) = tables.kept.take() {
            for block in tables.used_after_run(&kept) {
                let lane = tables.whole.lane_of(block).0;
                tables.free[lane.index()].push_back(block);
            }
            tables.data.fill(NO_BLOCK);
        }
        tables
    }

    /// Units with data.
    pub(super) fn units_with_data(&self) -> u64 {
        match &self.kept {
            None => u64::from(self.filled),
            Some(kept) => kept.entries.iter().filter(|&&entry| entry != NOWHERE).count() as u64,
        }
    }

    /// What shares the log blocks, if that follows from them.
    pub(crate) fn association(&self) -> Option<Association> {
        let mut logs = self.kept.iter().flat_map(|kept| &kept.lanes).flat_map(|lane| &lane.logs);
        logs.next().map(|(log, is_stream)| match log.of {
            Some(_) if !is_stream => Association::Block,
            _ => Association::Full,
        })
    }

    /// Units in the write cache, and log blocks of the lane with the most that take no stream.
    pub(crate) fn held(&self) -> (u64, u32) {
        let Some(kept) = &self.kept else { return (0, 0) };
        let cached = kept.entries.iter().filter(|&&entry| entry == IN_CACHE).count() as u64;
        let logs = kept.lanes.iter().map(|lane| lane.logs.iter().filter(|(_, stream)| !stream).count());
        (cached, logs.max().unwrap_or(0) as u32)
    }

    /// Numbers of what a run has left: 0 if none has.
    pub(super) fn kept_numbers(&self) -> Vec<u32> {
        let Some(kept) = &self.kept else { return vec![0] };
        let halves = |n: u64| [n as u32, (n >> 32) as u32];
        let block = |of: Option<LogicalBlock>| of.map_or(NONE, |block| block.0);
        let mut numbers = vec![1];
        numbers.extend(halves(kept.clock));
        numbers.extend(self.data.iter().map(|block| block.0));
        numbers.extend(&kept.programs_done);
        numbers.extend(&kept.erased_apart);
        numbers.extend(&kept.entries);
        for lane in &kept.lanes {
            numbers.extend([block(lane.starting), u32::from(lane.was_sequential), lane.logs.len() as u32]);
            for (log, is_stream) in &lane.logs {
                let flags = u32::from(log.is_sequential) | u32::from(*is_stream) << 1;
                numbers.extend([log.block.0, block(log.of), flags, log.programs]);
                numbers.extend(halves(log.used));
                numbers.extend(log.units.iter().map(|lpn| lpn.0));
            }
        }
        numbers
    }

    /// Restores what [`LogBlockTables::kept_numbers`] has of a run.
    pub(super) fn restore_kept(&mut self, from: &mut Supplement) -> Result<(), String> {
        if from.at_most(1, "the number of lists of log blocks")? == 0 {
            return Ok(());
        }
        if self.filled > 0 {
            return Err("its snapshot has data where its supplement has".into());
        }
        let geometry = self.geometry.clone();
        let units = geometry.logical_units();
        let clock = long(from)?;
        for block in LogicalBlock::first(geometry.blocks) {
            let data = SuperBlock(from.next("a data block")?);
            if data != NO_BLOCK {
                self.claim(data, geometry.lane(block))?;
            }
            self.data[block.index()] = data;
        }
        let programs = self.layout.programs_per_block;
        let each = 0..self.layout.super_blocks();
        let programs_done = each.map(|_| from.at_most(programs, "programs of a super block"));
        let programs_done: Vec<u32> = programs_done.collect::<Result<_, _>>()?;
        let each = SubBlocks::erased_apart_of(&geometry, &self.whole);
        let erased_apart = each.iter().map(|_| from.next("erases of sub-blocks"));
        let erased_apart = erased_apart.collect::<Result<Vec<u32>, _>>()?;
        let entries = (0..units).map(|_| from.next("the place of a unit")).collect::<Result<Vec<_>, _>>()?;
        let mut lanes = Vec::new();
        for lane in Lane::first(self.layout.lanes) {
            let starting = optional_block(from, &geometry)?;
            let was_sequential = from.at_most(1, "whether a stream was written last")? == 1;
            let count = from.at_most(self.whole.blocks, "log blocks of a lane")?;
            let mut logs = Vec::new();
            for _ in 0..count {
                let log = self.restore_log(from, lane)?;
                logs.push(log);
            }
            lanes.push(KeptLane { logs, starting, was_sequential });
        }
        let kept = KeptLogs { entries, programs_done, erased_apart, clock, lanes };
        self.check_entries(&kept)?;
        self.kept = Some(Box::new(kept));
        Ok(())
    }

    fn restore_log(&mut self, from: &mut Supplement, lane: Lane) -> Result<(LogBlock, bool), String> {
        let geometry = self.geometry.clone();
        let block = SuperBlock(from.next("a log block")?);
        self.claim(block, lane)?;
        let of = optional_block(from, &geometry)?;
        let flags = from.at_most(3, "the kind of a log block")?;
        let programs = from.at_most(geometry.programs, "programs of a log block")?;
        let used = long(from)?;
        let mut units = Vec::with_capacity(geometry.units as usize);
        for _ in 0..programs * geometry.program {
            let lpn = Lpn(from.next("a unit of a log block")?);
            if lpn != NO_UNIT && lpn.0 >= geometry.logical_units() {
                return Err(format!("log block {block} holds unit {lpn}"));
            }
            units.push(lpn);
        }
        let is_sequential = flags & 1 == 1;
        Ok((LogBlock { block, of, is_sequential, programs, in_flight: 0, units, used }, flags & 2 == 2))
    }

    /// Takes a super block of `lane` from the free ones.
    fn claim(&mut self, block: SuperBlock, lane: Lane) -> Result<(), String> {
        let free = &mut self.free[lane.index()];
        let at = free.iter().position(|&other| other == block);
        let at =
            at.ok_or_else(|| format!("super block {block} is not free on lane {lane}, or used twice"))?;
        free.remove(at);
        Ok(())
    }

    fn check_entries(&self, kept: &KeptLogs) -> Result<(), String> {
        let logs: std::collections::HashMap<SuperBlock, &LogBlock> =
            kept.lanes.iter().flat_map(|lane| &lane.logs).map(|(log, _)| (log.block, log)).collect();
        for (lpn, &entry) in Lpn::first(self.geometry.logical_units()).zip(&kept.entries) {
            let is_there = match entry {
                NOWHERE | IN_CACHE => true,
                IN_DATA_BLOCK => self.data[self.geometry.split(lpn).block.index()] != NO_BLOCK,
                ppu if ppu < self.layout.units() as u32 => {
                    let at = self.whole.split(Ppu(ppu));
                    let log = logs.get(&at.super_block);
                    log.and_then(|log| log.units.get(at.offset as usize)) == Some(&lpn)
                }
                _ => false,
            };
            if !is_there {
                return Err(format!("unit {lpn} is not where its entry is"));
            }
        }
        Ok(())
    }
}

fn long(from: &mut Supplement) -> Result<u64, String> {
    let low = from.next("a count of programs")?;
    Ok(u64::from(low) | u64::from(from.next("a count of programs")?) << 32)
}

fn optional_block(
    from: &mut Supplement,
    of: &super::geometry::LogBlockGeometry,
) -> Result<Option<LogicalBlock>, String> {
    match from.next("a logical block")? {
        NONE => Ok(None),
        block if block < of.blocks => Ok(Some(LogicalBlock(block))),
        block => Err(format!("logical block {block} of {}", of.blocks)),
    }
}
