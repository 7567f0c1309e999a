//! Does the audit at the end of a run see tables that are wrong in one place, whatever else agrees?

use crate::drive_common as drive;
use crate::ftl_common::drive::spec;
use crate::ftl_common::stream;
use interpulse_drive::FtlState;
use interpulse_drive::PreconditionedState;
use interpulse_drive::drive::Drive;
use interpulse_drive::ftl::layout::Layout;
use interpulse_drive::ftl::page::mapping::table::Where;
use interpulse_drive::numbers::Lpn;
use interpulse_drive::spec::DriveSpec;
use interpulse_engine::{Device, ResourceId, SimTime};
use std::fs::{self, File};
use std::io;

const PAGE: usize = 4096;

/// A state as bytes, and where its tables begin.
struct Kept {
    spec: DriveSpec,
    layout: Layout,
    bytes: Vec<u8>,
    to_physical: usize,
    to_logical: usize,
    valid: usize,
}

impl Kept {
    fn new() -> Kept {
        Kept::overwritten(1.0)
    }

    /// One of which all is written, and then so many capacities at random.
    fn overwritten(capacities: f64) -> Kept {
        let spec = spec(4, 30, 0.1);
        let ftl = drive::preconditioned(&spec, 1.0, capacities, 3).into_block_manager();
        let mut bytes = Vec::new();
        let done: Result<(), ()> = ftl.save(0, &mut |piece| {
            bytes.extend_from_slice(piece);
            Ok(())
        });
        done.unwrap();
        let layout = ftl.layout.clone();
        let words = layout.super_blocks() as usize * layout.units_per_block.div_ceil(64) as usize;
        let valid = bytes.len() - 8 * words;
        let to_logical = valid - (4 * layout.units() as usize).next_multiple_of(PAGE);
        let to_physical = to_logical - (4 * ftl.map().logical_units() as usize).next_multiple_of(PAGE);
        Kept { spec, layout, bytes, to_physical, to_logical, valid }
    }

    fn number(&mut self, at: usize) -> &mut [u8; 4] {
        (&mut self.bytes[at..at + 4]).try_into().unwrap()
    }

    /// The physical unit that `lpn` is said to be in.
    fn place(&mut self, lpn: usize) -> usize {
        !u32::from_le_bytes(*self.number(self.to_physical + 4 * lpn)) as usize
    }

    /// What the audit says, of every unit or of one in `stride`.
    fn audit(&self, stride: usize) -> Result<u64, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state");
        fs::write(&path, &self.bytes).unwrap();
        let file = File::open(path).unwrap();
        let seen = &mut |_: &[u8]| Ok::<(), io::Error>(());
        let state = PreconditionedState::of_file(&self.spec, stream("audits", 0), &file, 0, false, seen);
        let drive = Drive::new(self.spec.clone(), state.unwrap().0, 1, ResourceId(0), 1);
        drive.audit(SimTime::ZERO, stride).map(|audited| audited.mapped_units)
    }
}

#[test]
fn what_is_right_passes_and_is_counted() {
    let mut kept = Kept::new();
    let logical = drive::filled(&kept.spec, 1.0).block_manager().map().logical_units();
    for stride in [1, 2, 3, 64, 65, 1000, 1 << 30] {
        assert_eq!(kept.audit(stride), Ok(u64::from(logical)), "one in {stride}");
    }
    // The places are what they are taken for.
    let place = kept.place(5);
    assert_eq!(u32::from_le_bytes(*kept.number(kept.to_logical + 4 * place)), 5);
}

#[test]
fn a_unit_that_holds_something_else_is_found() {
    // Among valid units alone, and among such that are not.
    for mut kept in [Kept::overwritten(0.0), Kept::new()] {
        for lpn in [0, 1, 777] {
            let at = kept.to_logical + 4 * kept.place(lpn);
            let before = *kept.number(at);
            // What another unit holds, what nothing holds, and what is beyond the drive.
            for wrong in [lpn as u32 + 1, u32::MAX, u32::MAX - 1, u32::MAX >> 1] {
                *kept.number(at) = wrong.to_le_bytes();
                let why = kept.audit(1).unwrap_err();
                assert!(why.contains("the valid unit") && why.contains(&format!("holds {wrong}")), "{why}");
            }
            *kept.number(at) = before;
        }
        kept.audit(1).unwrap();
    }
}

#[test]
fn one_unit_in_so_many_is_looked_at() {
    let mut kept = Kept::new();
    let stride = 7;
    let logical = drive::filled(&kept.spec, 1.0).block_manager().map().logical_units() as usize;
    for lpn in (0..logical).step_by(97) {
        let place = kept.place(lpn);
        let at = kept.to_logical + 4 * place;
        let before = *kept.number(at);
        *kept.number(at) = (lpn as u32 ^ 1).to_le_bytes();
        assert_eq!(kept.audit(stride).is_err(), place.is_multiple_of(stride), "unit {place}");
        *kept.number(at) = before;
    }
}

#[test]
fn a_map_entry_that_leads_elsewhere_is_found() {
    let mut kept = Kept::new();
    let (one, other) = (kept.place(3), kept.place(1234));
    // Both in the same unit; to a place that nothing valid is in; and nowhere.
    let stale = (0..kept.layout.units() as usize).find(|&ppu| !kept.is_valid(ppu)).unwrap();
    for wrong in [!(other as u32), !(stale as u32), 0] {
        *kept.number(kept.to_physical + 4 * 3) = wrong.to_le_bytes();
        kept.audit(1).unwrap_err();
    }
    // Two that have changed places, as many as before in each block.
    *kept.number(kept.to_physical + 4 * 3) = (!(other as u32)).to_le_bytes();
    *kept.number(kept.to_physical + 4 * 1234) = (!(one as u32)).to_le_bytes();
    assert!(kept.audit(1).unwrap_err().contains("which is mapped to"));
    // To a slot of the cache that holds another.
    *kept.number(kept.to_physical + 4 * 1234) = (!(other as u32)).to_le_bytes();
    *kept.number(kept.to_physical + 4 * 3) = (!(1u32 << 31)).to_le_bytes();
    assert!(kept.audit(1).unwrap_err().contains("cache slot"));
    *kept.number(kept.to_physical + 4 * 3) = (!(one as u32)).to_le_bytes();
    kept.audit(1).unwrap();
}

#[test]
fn a_block_that_miscounts_and_a_unit_too_many_are_found() {
    let mut kept = Kept::new();
    let stale = (0..kept.layout.units() as usize).find(|&ppu| !kept.is_valid(ppu)).unwrap();
    let valid = kept.place(9);
    for ppu in [stale, valid] {
        kept.flip_valid(ppu);
        assert!(kept.audit(1 << 20).unwrap_err().contains("its bits say"));
        kept.flip_valid(ppu);
    }
    // One less in a block and one more in another: what each counts goes with it.
    kept.flip_valid(valid);
    kept.flip_valid(stale);
    let blocks = [valid, stale].map(|ppu| ppu / kept.layout.units_per_block as usize);
    for (block, change) in blocks.into_iter().zip([u32::MAX, 1]) {
        let weight = u32::from_le_bytes(*kept.number(4 * block));
        *kept.number(4 * block) = weight.wrapping_add(change).to_le_bytes();
    }
    assert!(kept.audit(1).unwrap_err().contains("which is mapped to"));
    let block = 4 * blocks[1];
    let weight = u32::from_le_bytes(*kept.number(block));
    kept.flip_valid(stale);
    *kept.number(block) = (weight - 1).to_le_bytes();
    assert!(kept.audit(1).unwrap_err().contains("are mapped there"));
}

impl Kept {
    /// Byte and bit that say whether a unit is valid.
    fn bit(&self, ppu: usize) -> (usize, u8) {
        let full = self.layout.units_per_block as usize;
        let (block, offset) = (ppu / full, ppu % full);
        (self.valid + 8 * block * full.div_ceil(64) + offset / 8, 1 << (offset % 8))
    }

    fn is_valid(&self, ppu: usize) -> bool {
        let (byte, bit) = self.bit(ppu);
        self.bytes[byte] & bit != 0
    }

    fn flip_valid(&mut self, ppu: usize) {
        let (byte, bit) = self.bit(ppu);
        self.bytes[byte] ^= bit;
    }
}

/// Units in the cache: mapped to it and to nothing on flash.
#[test]
fn a_drive_at_work_passes() {
    let spec = spec(4, 30, 0.1);
    let flows = [drive::closed("load", 8, drive::mix(0.3))];
    let mut bench = drive::Bench::new(&spec, drive::filled(&spec, 1.0), &flows, 1);
    bench.run_requests(3000);
    let drive = &bench.host.device;
    let cached = Lpn::first(drive.block_manager().map().logical_units())
        .filter(|&lpn| matches!(drive.block_manager().map().get(lpn), Where::Cache(_)));
    assert!(cached.count() > 0);
    bench.finish();
}
