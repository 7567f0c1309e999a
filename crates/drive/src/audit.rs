//! Version audit: an independent record of the newest version of a sample of logical units.
//!
//! Every write to a sampled unit gets the next version number, which follows the data into the cache, onto flash and
//! through garbage collection. A read must return the newest version. The record shares nothing with the map, so it detects
//! a wrong map.

pub mod loss;
mod record;
pub mod units;

use crate::numbers::{Lpn, Ppu, Slot};
use interpulse_engine::random::mix;
use record::LossRecord;
use std::collections::HashMap;

/// Record of versions. Hash maps are only looked up by key, never iterated.
#[derive(Clone, Default)]
pub struct VersionAudit {
    every: u64,
    /// Newest version of a unit, and whether it is a trim.
    newest: HashMap<Lpn, (u32, bool)>,
    in_cache: HashMap<Slot, (Lpn, u32)>,
    on_flash: HashMap<Ppu, (Lpn, u32)>,
    /// Acknowledged versions, where power may be lost.
    loss: Option<Box<LossRecord>>,
    /// Reads checked.
    pub checked: u64,
}

impl VersionAudit {
    /// Tracks one in `every` logical units (1 = all of them).
    pub fn new(every: u32) -> VersionAudit {
        VersionAudit { every: u64::from(every), ..VersionAudit::default() }
    }

    /// Whether `lpn` is tracked.
    #[inline]
    pub fn follows(&self, lpn: Lpn) -> bool {
        // One multiplication instead of a remainder: the top bits of the mix are uniform.
        (u128::from(mix(u64::from(lpn.0) + 1)) * u128::from(self.every)) >> 64 == 0
    }

    /// Records a new version of `lpn` in `slot` of the cache.
    #[cold]
    pub fn written(&mut self, lpn: Lpn, slot: Slot) {
        let (version, gone) = self.newest.entry(lpn).or_insert((0, false));
        *version += 1;
        *gone = false;
        self.in_cache.insert(slot, (lpn, *version));
    }

    /// Records that the content of `slot` is programmed to `ppu`.
    #[cold]
    pub fn programmed(&mut self, lpn: Lpn, slot: Slot, ppu: Ppu) {
        let content = self.in_cache[&slot];
        assert_eq!(content.0, lpn, "slot {slot} holds another unit");
        self.on_flash.insert(ppu, content);
    }

    /// Records that garbage collection copied `from` to `to`.
    #[cold]
    pub fn moved(&mut self, lpn: Lpn, from: Ppu, to: Ppu) {
        let content = self.flash_content(lpn, from);
        self.on_flash.insert(to, (lpn, content));
    }

    /// Records that a power cut has left nothing in `ppu`.
    pub fn torn(&mut self, ppu: Ppu) {
        self.on_flash.remove(&ppu);
    }

    /// Checks a read of `lpn` from `slot` of the cache.
    #[cold]
    pub fn read_cache(&mut self, lpn: Lpn, slot: Slot) {
        let (held, version) = self.in_cache[&slot];
        assert_eq!(held, lpn, "a read of unit {lpn} was served from a slot holding {held}");
        self.check(lpn, version);
    }

    /// Checks a read of `lpn` from `ppu`.
    #[cold]
    pub fn read_flash(&mut self, lpn: Lpn, ppu: Ppu) {
        let version = self.flash_content(lpn, ppu);
        self.check(lpn, version);
    }

    /// Newest version of `lpn`, which is tracked.
    pub fn newest(&self, lpn: Lpn) -> u32 {
        self.newest.get(&lpn).map_or(0, |of| of.0)
    }

    /// Checks a read of `lpn` that returned a copy of `version`, where the newest is no trim.
    #[cold]
    pub fn read_copy(&mut self, lpn: Lpn, version: u32) {
        let gone = self.newest.get(&lpn).is_some_and(|of| of.1);
        assert!(!gone, "a read of unit {lpn} returned version {version} after a trim");
        self.check(lpn, version);
    }

    /// Records a trim of `lpn`: the next read must find no data.
    #[cold]
    pub fn trimmed(&mut self, lpn: Lpn) {
        let (version, gone) = self.newest.entry(lpn).or_insert((0, false));
        *version += 1;
        *gone = true;
    }

    /// Checks a read that found `lpn` unmapped. Preconditioning may have left units without data.
    #[cold]
    pub fn read_nothing(&mut self, lpn: Lpn) {
        if let Some(&(version, gone)) = self.newest.get(&lpn) {
            assert!(gone, "a read of unit {lpn} found nothing, the newest version is {version}");
        }
        self.checked += 1;
    }

    /// Version of `lpn` at `ppu`; preconditioned data has version 0.
    fn flash_content(&self, lpn: Lpn, ppu: Ppu) -> u32 {
        match self.on_flash.get(&ppu) {
            Some(&(held, version)) if held == lpn => version,
            _ => 0,
        }
    }

    fn check(&mut self, lpn: Lpn, version: u32) {
        let (newest, _) = self.newest.get(&lpn).copied().unwrap_or((0, false));
        assert_eq!(
            version, newest,
            "a read of unit {lpn} returned version {version}, the newest is {newest}"
        );
        self.checked += 1;
    }
}
