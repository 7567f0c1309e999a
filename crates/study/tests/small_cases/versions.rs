//! Version audit: accepts correct reads and detects every kind of error.

use interpulse_drive::audit::VersionAudit;
use interpulse_drive::numbers::{Lpn, Ppu, Slot};
use interpulse_oracle::stats::proportion_interval;

/// Unit 7 was written twice; the second version is being programmed, the first is at 100.
fn written_twice() -> VersionAudit {
    let mut audit = VersionAudit::new(1);
    audit.written(Lpn(7), Slot(0));
    audit.programmed(Lpn(7), Slot(0), Ppu(100));
    audit.written(Lpn(7), Slot(1));
    audit
}

#[test]
fn the_audit_passes_what_is_right() {
    let mut audit = written_twice();
    audit.read_cache(Lpn(7), Slot(1));
    audit.programmed(Lpn(7), Slot(1), Ppu(101));
    audit.read_flash(Lpn(7), Ppu(101));
    audit.moved(Lpn(7), Ppu(101), Ppu(200));
    audit.read_flash(Lpn(7), Ppu(200));
    // Unit 8 has only its preconditioned version.
    audit.read_flash(Lpn(8), Ppu(50));
    audit.trimmed(Lpn(7));
    audit.read_nothing(Lpn(7));
    assert_eq!(audit.checked, 5);
}

#[test]
#[should_panic(expected = "a read of unit 7 returned version 1, the newest is 2")]
fn the_audit_finds_a_stale_read() {
    written_twice().read_flash(Lpn(7), Ppu(100));
}

#[test]
#[should_panic(expected = "a read of unit 9 was served from a slot holding 7")]
fn the_audit_finds_another_units_data() {
    written_twice().read_cache(Lpn(9), Slot(1));
}

#[test]
#[should_panic(expected = "a read of unit 7 found nothing, the newest version is 2")]
fn the_audit_finds_lost_data() {
    written_twice().read_nothing(Lpn(7));
}

#[test]
#[should_panic(expected = "a read of unit 7 returned version 2, the newest is 3")]
fn the_audit_finds_data_that_was_trimmed() {
    let mut audit = written_twice();
    audit.trimmed(Lpn(7));
    audit.read_cache(Lpn(7), Slot(1));
}

#[test]
fn the_audit_follows_about_one_unit_in_so_many() {
    let audit = VersionAudit::new(100);
    let followed = (0..1_000_000).filter(|&lpn| audit.follows(Lpn(lpn))).count();
    let legal = proportion_interval(0.01, 1_000_000, 1e-6, 1).unwrap();
    assert!(legal.contains(followed as f64 / 1e6), "{followed}");
    assert!((0..10_000).all(|lpn| VersionAudit::new(1).follows(Lpn(lpn))));
}
