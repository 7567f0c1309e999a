//! Snapshot version guard: snapshots are named by the configuration alone; when the FTL or preconditioning changes,
//! the format version must rise so that old files are refused.

use interpulse_drive::FtlState;
use interpulse_study::config::{PlanRequest, read_cases};
use interpulse_study::initial_state::precondition::precondition;
use interpulse_study::initial_state::snapshot::FORMAT_VERSION;
use std::convert::Infallible;
use xxhash_rust::xxh3::Xxh3Default;

/// Format version and checksum of a small preconditioned state. When the checksum changes, raise
/// `snapshot::FORMAT_VERSION` by one (unless that version is unreleased) and update both here.
const PINNED: (u32, u64) = (6, 8_181_293_338_860_486_479);

#[test]
fn the_format_version_is_raised_with_the_state() {
    let text =
        "drive = \"a4-mini\"\n[precondition]\noverwrite = \"uniform\"\n[run]\nrequests = 1\n[[flow]]\n";
    let request = PlanRequest { text: text.into(), path: "guard".into(), ..PlanRequest::default() };
    let case = read_cases(&request).expect("a legal configuration").remove(0);
    let (state, _) =
        precondition(&case.drive, &case.precondition, &mut |_, _| true).expect("it is not stopped");
    let mut sum = Xxh3Default::new();
    let done: Result<(), Infallible> = state.save(0, &mut |piece| {
        sum.update(piece);
        Ok(())
    });
    let Ok(()) = done;
    assert_eq!((FORMAT_VERSION, sum.digest()), PINNED, "see the comment of PINNED");
}
