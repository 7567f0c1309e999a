//! Flushes of a zoned drive whose cache does not survive a loss of power.
//!
//! Data that fills programs is programmed to its zone. The rest, of which a zone has less than a program, is saved by programs
//! to a separate region, striped over the lanes, whose erases are not simulated: its place in the zone is written once, when
//! the program is complete.

use super::durability::ZoneFlush;
use super::zoned_ftl::ZonedFtl;
use crate::ftl::flash::Flash;
use crate::ftl::outcome::Outcome;
use crate::numbers::{GroupId, Lane};
use crate::owner::Owner;
use interpulse_engine::RequestId;
use interpulse_flash::nand::txn::{Kind, Txn};

impl ZonedFtl {
    /// Starts a flush: at once complete if the cache survives a loss of power.
    pub(super) fn flush(&mut self, flash: &mut Flash, tag: RequestId) {
        let Some(loss) = &self.loss else { return self.outcomes.push_back(Outcome::Flushed(tag)) };
        self.versions.flush_begins(tag);
        if loss.protected {
            return self.outcomes.push_back(Outcome::Flushed(tag));
        }
        let (mut waits, mut saves, mut units) = (Vec::new(), Vec::new(), 0);
        for zone in 0..self.geometry.zones {
            let of = &self.zones[zone as usize];
            if of.admitted <= self.durable(zone) {
                continue;
            }
            let from = (of.admitted / self.geometry.program) * self.geometry.program;
            let wait = ZoneFlush { zone, generation: of.generation, from, end: of.admitted };
            waits.push(wait);
            let first = loss.saved[zone as usize].last().map_or(from, |saved| from.max(saved.1));
            let is_tail = of.is_finished && of.admitted == self.states.of(zone).written;
            if !is_tail && first < of.admitted {
                units += of.admitted - first;
                saves.push(wait);
            }
        }
        let loss = self.loss.as_mut().expect("it is kept");
        loss.flushes.push_back((tag, waits));
        if units > 0 {
            let programs = u64::from(units.div_ceil(self.geometry.program));
            let group = loss.saves.insert((saves, programs));
            loss.written.programs += programs;
            for _ in 0..programs {
                loss.next_lane = Lane((loss.next_lane.0 + 1) % self.layout.lanes);
                let (die, plane) = self.layout.die_of(loss.next_lane);
                let mut txn = Txn::new(Kind::GcProgram, die);
                (txn.plane, txn.planes) = (plane as u8, self.layout.planes as u8);
                txn.set_owner(Owner::Metadata(group).into());
                flash.submit(txn);
            }
        }
        self.settle_flushes();
    }

    /// Units of a zone that survive a loss of power, from its start.
    fn durable(&self, zone: u32) -> u32 {
        let landed = self.zones[zone as usize].landed() * self.geometry.program;
        self.durable_behind(zone, landed)
    }

    /// As [`ZonedFtl::durable`], where the units before `landed` are in programs that have ended.
    pub(super) fn durable_behind(&self, zone: u32, landed: u32) -> u32 {
        let (of, loss) = (&self.zones[zone as usize], self.loss.as_ref().expect("power may be lost"));
        let add = |end: u32, &(from, to): &(u32, u32)| if from <= end { end.max(to) } else { end };
        loss.saved[zone as usize].iter().fold(landed, add).min(of.admitted)
    }

    /// Completes a program that saves data of flushes.
    pub(super) fn save_done(&mut self, group: GroupId) {
        let loss = self.loss.as_mut().expect("power may be lost");
        let (_, left) = loss.saves.get_mut(group);
        *left -= 1;
        if *left > 0 {
            return;
        }
        let (saves, _) = loss.saves.remove(group);
        for save in saves {
            let of = &self.zones[save.zone as usize];
            if of.generation == save.generation {
                let (saved, landed) =
                    (&mut loss.saved[save.zone as usize], of.landed() * self.geometry.program);
                saved.retain(|&(_, to)| to > landed);
                match saved.binary_search_by_key(&save.from, |range| range.0) {
                    Ok(k) => saved[k].1 = save.end.max(saved[k].1),
                    Err(k) => saved.insert(k, (save.from, save.end)),
                }
            }
        }
    }

    /// Completes flushes whose data is durable.
    pub(super) fn settle_flushes(&mut self) {
        self.settle_refill();
        loop {
            let Some((tag, waits)) = self.loss.as_mut().and_then(|loss| loss.flushes.pop_front()) else {
                return;
            };
            let is_over = |wait: &ZoneFlush| {
                self.zones[wait.zone as usize].generation != wait.generation
                    || self.durable(wait.zone) >= wait.end
            };
            if waits.iter().all(is_over) {
                self.outcomes.push_back(Outcome::Flushed(tag));
            } else {
                self.loss.as_mut().expect("it is kept").flushes.push_front((tag, waits));
                return;
            }
        }
    }
}
