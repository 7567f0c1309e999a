//! Power-loss audit: an independent record, unit by unit, of what the host was promised.
//!
//! A write that is complete may be lost only while no flush that began after its completion is complete, and only on a
//! drive whose cache is not protected. Versions are those of the version audit.

use super::VersionAudit;
use super::record::LossRecord;
use crate::numbers::{Lpn, Ppu, Slot};
use interpulse_engine::RequestId;
use std::collections::{BTreeMap, HashMap, VecDeque};

/// What the drive gives for a unit after a cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    /// Nothing: never written, or trimmed.
    Nothing,
    /// What is in this slot of the cache.
    Slot(Slot),
    /// What is in this physical unit.
    Unit(Ppu),
}

/// What a cut took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Losses {
    /// Units whose newest completed write or trim is gone.
    pub acknowledged: u64,
    /// Of these, units that a completed flush covers.
    pub flushed: u64,
    /// Units of requests that were not complete.
    pub unacknowledged: u64,
    /// Of these, units that survived.
    pub survived: u64,
}

/// What became of one unit of a request that the cut found outstanding.
pub type Fate = (Lpn, bool);

impl VersionAudit {
    /// Follows every unit, and what the host is told of each; `flushes` if what is complete may be lost.
    pub fn for_power_loss(flushes: bool) -> VersionAudit {
        let unflushed = flushes.then(VecDeque::new);
        let loss = Some(Box::new(LossRecord { unflushed, ..LossRecord::default() }));
        VersionAudit { loss, ..VersionAudit::new(1) }
    }

    fn record(&mut self) -> &mut LossRecord {
        self.loss.as_mut().expect("it is kept where power may be lost")
    }

    /// The newest version of `lpn` is of request `id`.
    #[cold]
    pub fn belongs(&mut self, id: RequestId, lpn: Lpn) {
        let (version, gone) = self.newest[&lpn];
        let record = self.record();
        record.requests.entry(id).or_default().push((lpn, version));
        if gone {
            record.trimmed.insert(lpn, version);
        }
    }

    /// Flush `id` begins: what has been completed so far it covers.
    #[cold]
    pub fn flush_begins(&mut self, id: RequestId) {
        let record = self.record();
        if let Some(log) = &record.unflushed {
            record.flushes.insert(id, record.covered + log.len() as u64);
        }
    }

    /// The host is told that request `id` is complete.
    #[cold]
    pub fn acknowledged(&mut self, id: RequestId) {
        let record = self.record();
        if let (Some(upto), Some(log)) = (record.flushes.remove(&id), &mut record.unflushed) {
            while record.covered < upto {
                let (lpn, version) = log.pop_front().expect("it was there when the flush began");
                let flushed = record.flushed.entry(lpn).or_default();
                *flushed = version.max(*flushed);
                record.covered += 1;
            }
        }
        for (lpn, version) in record.requests.remove(&id).unwrap_or_default() {
            let newest = record.acknowledged.entry(lpn).or_default();
            *newest = version.max(*newest);
            if let Some(log) = &mut record.unflushed {
                log.push_back((lpn, version));
            }
        }
    }

    /// Power has been cut, and `held` is what the drive gives from now on. Returns what is lost, and of each unit of each
    /// request that was outstanding whether its data, or newer, survived.
    pub fn power_lost(&mut self, held: impl Fn(Lpn) -> Held) -> (Losses, BTreeMap<RequestId, Vec<Fate>>) {
        let version_of = |lpn: Lpn| match held(lpn) {
            Held::Nothing => self.record_ref().trimmed.get(&lpn).copied().unwrap_or(0),
            Held::Slot(slot) => self.in_cache.get(&slot).map_or(0, |&(_, version)| version),
            Held::Unit(ppu) => self.flash_content(lpn, ppu),
        };
        let units: Vec<(Lpn, u32)> = self.newest.keys().map(|&lpn| (lpn, version_of(lpn))).collect();
        let mut losses = Losses::default();
        let mut fates = BTreeMap::new();
        for (&id, of) in &self.record_ref().requests {
            let fate: Vec<Fate> =
                of.iter().map(|&(lpn, version)| (lpn, version_of(lpn) >= version)).collect();
            losses.unacknowledged += fate.len() as u64;
            losses.survived += fate.iter().filter(|f| f.1).count() as u64;
            fates.insert(id, fate);
        }
        for (lpn, version) in units {
            self.newest.insert(lpn, (version, held(lpn) == Held::Nothing));
            let record = self.record();
            let before = |of: &HashMap<Lpn, u32>| of.get(&lpn).copied().unwrap_or(0);
            losses.acknowledged += u64::from(version < before(&record.acknowledged));
            losses.flushed += u64::from(version < before(&record.flushed));
            record.acknowledged.insert(lpn, version);
            record.flushed.insert(lpn, version);
        }
        let record = self.record();
        record.requests.clear();
        record.flushes.clear();
        if let Some(log) = &mut record.unflushed {
            record.covered += log.len() as u64;
            log.clear();
        }
        (losses, fates)
    }

    fn record_ref(&self) -> &LossRecord {
        self.loss.as_ref().expect("it is kept where power may be lost")
    }

    /// What was in the first slot of each pair is in the second one now, and nothing else is in the cache.
    pub fn slots_moved(&mut self, pairs: &[(Slot, Slot)]) {
        let before = std::mem::take(&mut self.in_cache);
        self.in_cache = pairs.iter().map(|(from, to)| (*to, before[from])).collect();
    }
}
