//! The audits at the end of a run, and the diagnosis of one that cannot go on.

use super::Drive;
use crate::ftl::map::Where;
use interpulse_engine::{Agenda, SimTime};
use std::fmt::Write;

/// What the audits looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AuditReport {
    /// Requests issued, all of which completed.
    pub requests: u64,
    /// Logical units mapped to flash, all of which agree with the physical side.
    pub mapped_units: u64,
    /// Reads whose version was checked.
    pub versions_checked: u64,
}

impl Drive {
    /// Checks, once all requests are done, that nothing was lost: issued = completed, valid units = mapped
    /// units, block by block, and every map entry is confirmed by the physical side. `stride` > 1 confirms one
    /// entry in so many. Err names what does not hold.
    pub fn audit(&self, now: SimTime, stride: usize) -> Result<AuditReport, String> {
        let lost = self.requests_lost();
        if self.issued != self.completed + lost {
            let (issued, completed) = (self.issued, self.completed);
            return Err(format!("{issued} requests issued, {completed} completed, {lost} lost with power"));
        }
        let map = &self.ftl.map;
        let mut mapped = 0u64;
        let mut cached = 0u64;
        for lpn in 0..map.logical_units() {
            match map.get(lpn) {
                Where::Flash(ppu) => {
                    mapped += 1;
                    if (lpn as usize).is_multiple_of(stride) {
                        let (block, offset) = self.ftl.layout.split(ppu);
                        if map.to_logical[ppu as usize] != lpn || !map.is_valid(block, offset) {
                            return Err(format!(
                                "unit {lpn} is mapped to {ppu}, which holds {} (valid: {})",
                                map.to_logical[ppu as usize],
                                map.is_valid(block, offset)
                            ));
                        }
                    }
                }
                Where::Cache(slot) => {
                    cached += u64::from(!self.keeps_homes || self.cache.home(slot) != crate::cache::NO_SLOT);
                    if self.cache.lpn(slot) != lpn {
                        return Err(format!("unit {lpn} is mapped to a cache slot that holds another"));
                    }
                }
                Where::Unmapped => {}
            }
        }
        let mut valid = 0u64;
        for block in 0..self.ftl.layout.super_blocks() {
            let bits: u32 = map.valid_words(block).iter().map(|w| w.count_ones()).sum();
            if bits != map.valid_units(block) {
                return Err(format!(
                    "block {block} counts {} valid units, its bits say {bits}",
                    map.valid_units(block)
                ));
            }
            valid += u64::from(bits);
        }
        // Under imposed write amplification, and where power may be lost with the cache, a cached unit keeps its valid
        // home.
        let imposed = self.spec.ftl.gc == crate::ftl::gc::GcPolicy::Imposed;
        let expected = if imposed || self.keeps_homes { mapped + cached } else { mapped };
        if valid != expected {
            return Err(format!("{valid} units are valid on flash, {expected} are mapped there"));
        }
        for (d, die) in self.nand.dies().iter().enumerate() {
            let sum: u64 = die.usage.uses().iter().sum();
            if sum > now.as_ns() {
                return Err(format!("die {d} was busy for {sum} ns of {} ns", now.as_ns()));
            }
        }
        Ok(AuditReport {
            requests: self.completed,
            mapped_units: mapped,
            versions_checked: self.versions.checked,
        })
    }

    /// Looks every logical unit up and has the version audit check what a read of it would return now.
    pub fn read_everything(&mut self) {
        for lpn in
            (0..self.ftl.map.logical_units()).filter(|&lpn| self.versions.follows(lpn)).collect::<Vec<_>>()
        {
            match self.ftl.map.get(lpn) {
                Where::Flash(ppu) => self.versions.read_flash(lpn, ppu),
                Where::Cache(slot) => self.versions.read_cache(lpn, slot),
                Where::Unmapped => self.versions.read_nothing(lpn),
            }
        }
    }

    /// Describes a drive with requests outstanding on which nothing is going to happen.
    pub fn diagnosis(&self, agenda: &Agenda) -> String {
        let mut text = format!(
            "at {} nothing is going to happen, yet {} requests are outstanding: ",
            agenda.now(),
            self.requests.live()
        );
        let _ = write!(
            text,
            "{} not fetched, {} in the controller, {} writes waiting for the cache, {} flushes; cache: {} free, {} \
             dirty, {} being programmed; flash array: {} transactions",
            self.queues.unfetched(),
            self.queues.in_controller(),
            self.stalled.len(),
            self.flushes.len(),
            self.cache.free(),
            self.cache.dirty_total(),
            self.cache.in_flight(),
            self.nand.pending()
        );
        let lanes = self.ftl.layout.lanes;
        let short: Vec<u32> =
            (0..lanes).filter(|&l| !self.ftl.has_place(l, crate::ftl::Stream::Host)).collect();
        let _ = write!(text, "; {} of {lanes} lanes have no block for host data", short.len());
        if let Some(&lane) = short.first() {
            let _ = write!(text, ", such as {}", self.gc_standing(lane));
        }
        for (id, r) in self.requests.iter().take(5) {
            let _ = write!(
                text,
                "\n  request {id}: {:?} of {} units at unit {}, submitted at {}, {} flash reads left, {} units admitted",
                r.op, r.units, r.lpn, r.submitted, r.reads_left, r.admitted
            );
        }
        text
    }
}
