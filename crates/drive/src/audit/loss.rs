//! Power-loss audit: an independent record, unit by unit, of acknowledged writes and trims.
//!
//! A completed write may be lost only until a flush that began after its completion is complete, and only on a drive whose
//! cache is not protected. Versions are those of the version audit.

use super::VersionAudit;
use super::record::LossRecord;
use super::units::{UnitEvent, UnitLog};
use crate::numbers::{Lpn, Ppu, Slot};
use interpulse_engine::RequestId;
use std::collections::{BTreeMap, HashMap, VecDeque};

/// Content of a unit after a power loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    /// Nothing: never written, or trimmed.
    Nothing,
    /// Data in this slot of the cache.
    Slot(Slot),
    /// Data in this physical unit.
    Unit(Ppu),
}

/// Units lost by a cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Losses {
    /// Units whose newest completed write or trim is lost.
    pub acknowledged: u64,
    /// Of these, units that a completed flush covers.
    pub flushed: u64,
    /// Units of requests that were not complete.
    pub unacknowledged: u64,
    /// Of these, units that survived.
    pub survived: u64,
}

/// Unit of a request outstanding at the cut, and whether it survived.
pub type Fate = (Lpn, bool);

impl VersionAudit {
    /// Audit of every unit and its acknowledgements; `flushes` if completed writes may be lost.
    pub fn for_power_loss(flushes: bool) -> VersionAudit {
        let unflushed = flushes.then(VecDeque::new);
        let loss = Some(Box::new(LossRecord { unflushed, ..LossRecord::default() }));
        VersionAudit { loss, ..VersionAudit::new(1) }
    }

    fn record(&mut self) -> &mut LossRecord {
        self.loss.as_mut().expect("it is kept where power may be lost")
    }

    /// Notes that the newest version of `lpn` belongs to request `id`.
    #[cold]
    pub fn belongs(&mut self, id: RequestId, lpn: Lpn) {
        let (version, gone) = self.newest[&lpn];
        let record = self.record();
        record.requests.entry(id).or_default().push((lpn, version));
        if gone {
            record.trimmed.insert(lpn, version);
        }
    }

    /// Log of changes of units, empty at first, if `follow`.
    pub fn follow_units(&mut self, follow: bool) {
        self.record().units = follow.then(Box::default);
    }

    /// Log of changes of units, if a host follows them.
    #[inline]
    pub fn unit_log(&mut self) -> Option<&mut UnitLog> {
        self.loss.as_mut()?.units.as_deref_mut()
    }

    /// Notes for the host that `lpn` has the version in the cache that [`VersionAudit::written`] has counted.
    #[cold]
    pub fn note_written(&mut self, lpn: Lpn, absorbed: bool) {
        let version = self.newest(lpn);
        if let Some(log) = self.unit_log() {
            log.push(UnitEvent::Written { tag: log.writer, lpn, version, absorbed });
        }
    }

    /// Notes for the host that a trim has removed the data of `lpn`.
    #[cold]
    pub fn note_trimmed(&mut self, lpn: Lpn, absorbed: bool) {
        let version = self.newest(lpn);
        if let Some(log) = self.unit_log() {
            log.push(UnitEvent::Trimmed { lpn, version, absorbed });
        }
    }

    /// Notes for the host that a trim has found no data of `lpn`.
    #[inline]
    pub fn note_empty(&mut self, lpn: Lpn) {
        if let Some(log) = self.unit_log() {
            log.push_empty(lpn);
        }
    }

    /// Notes for the host that the version of `lpn` in `slot` is on flash.
    #[cold]
    pub fn note_durable(&mut self, lpn: Lpn, slot: Slot) {
        let (_, version) = self.in_cache[&slot];
        if let Some(log) = self.unit_log() {
            log.push(UnitEvent::Durable { lpn, version });
        }
    }

    /// Begins flush `id`, which covers everything completed so far.
    #[cold]
    pub fn flush_begins(&mut self, id: RequestId) {
        let record = self.record();
        if let Some(log) = &record.unflushed {
            record.flushes.insert(id, record.covered + log.len() as u64);
        }
    }

    /// Notes that the host has the completion of request `id`.
    #[cold]
    pub fn acknowledged(&mut self, id: RequestId) {
        let record = self.record();
        if let (Some(upto), Some(log)) = (record.flushes.remove(&id), &mut record.unflushed) {
            while record.covered < upto {
                let (lpn, version) = log.pop_front().expect("the log holds it since the flush began");
                let flushed = record.flushed.entry(lpn).or_default();
                *flushed = version.max(*flushed);
                record.covered += 1;
                // Programs have been noted when they ended.
                if let Some(units) = &mut record.units
                    && record.trimmed.get(&lpn) == Some(&version)
                {
                    units.push(UnitEvent::Durable { lpn, version });
                }
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

    /// Audits the state `held` after a power loss. Returns the losses, and whether each unit of outstanding requests
    /// survived.
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
            let before = self.newest.insert(lpn, (version, held(lpn) == Held::Nothing));
            let record = self.record();
            if let Some(units) = &mut record.units
                && before.is_some_and(|(newest, _)| version < newest)
            {
                units.push(UnitEvent::Reverted { lpn, version });
            }
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
        if let Some(units) = &mut record.units {
            units.push(UnitEvent::PowerLost);
        }
        (losses, fates)
    }

    fn record_ref(&self) -> &LossRecord {
        self.loss.as_ref().expect("it is kept where power may be lost")
    }

    /// Moves cached versions from the first slot of each pair to the second; all other slots are empty.
    pub fn slots_moved(&mut self, pairs: &[(Slot, Slot)]) {
        let before = std::mem::take(&mut self.in_cache);
        self.in_cache = pairs.iter().map(|(from, to)| (*to, before[from])).collect();
    }
}
