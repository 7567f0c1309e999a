//! Preconditioning: fill, then overwrites until steady or for a number of drive writes.

use super::overwrites::Overwrites;
use crate::config::{PreconditionSpec, Until};
use interpulse_drive::DriveSpec;
use interpulse_drive::Preconditioner;
use interpulse_drive::ftl::log_block::tables::LogBlockTables;
use interpulse_drive::ftl::page::placement::stripe::Allocation;
use interpulse_drive::ftl::zoned::tables::ZoneTables;
use interpulse_drive::numbers::Lpn;
use interpulse_drive::{EachNamespace, PreconditionedState};
use interpulse_engine::{Rng, Streams};
use interpulse_workload::AddressSpec;

/// Units written between two progress reports.
const CHUNK: u64 = 1 << 20;

/// Outcome of preconditioning.
#[derive(Clone, Debug, PartialEq)]
pub struct Preconditioned {
    /// Write amplification of each quarter-drive of overwrites.
    pub quarters: Vec<f64>,
    /// Steady state was requested and not reached.
    pub gave_up: bool,
}

impl Preconditioned {
    /// Outcome of a fill.
    const FILLED: Preconditioned = Preconditioned { quarters: Vec::new(), gave_up: false };
}

/// Preconditions a fresh drive. `progress` gets units written and units expected, and returns false to stop, which
/// gives `None`.
pub fn precondition(
    drive: &DriveSpec,
    spec: &PreconditionSpec,
    progress: &mut dyn FnMut(u64, u64) -> bool,
) -> Option<(PreconditionedState, Preconditioned)> {
    if drive.is_divided() {
        return precondition_namespaces(drive, spec, progress);
    }
    let streams = Streams::new(spec.seed);
    if let Some(zones) = drive.zone_geometry().expect("the spec has been checked") {
        let mut tables = ZoneTables::new(drive.layout().expect("the spec has been checked"), zones);
        tables.fill(spec.full_zones(tables.geometry.zones));
        return Some((PreconditionedState::Zoned(tables), Preconditioned::FILLED));
    }
    if let Some(blocks) = drive.log_block_geometry().expect("the spec has been checked") {
        let units = (f64::from(blocks.logical_units()) * spec.fill) as u32;
        let mut tables = LogBlockTables::new(drive.layout().expect("the spec has been checked"), blocks);
        tables.fill(units);
        return Some((PreconditionedState::LogBlock(tables), Preconditioned::FILLED));
    }
    let mut ftl = drive.fresh_ftl(streams.stream("precondition.gc", 0)).expect("the spec has been checked");
    let logical = u64::from(ftl.config().logical_units);
    let filled = ((logical as f64 * spec.fill) as u64).min(logical);
    let stripe = drive.fill_stripe().expect("the spec has been checked");
    let mut p = Preconditioner::new(&mut ftl, stripe).working_ahead();
    let mut dated = OutOfDate {
        threshold: Rng::threshold(spec.out_of_date),
        rng: streams.stream("precondition.out-of-date", 0),
    };
    // Two to three capacities of overwrites are usual; the estimate is corrected during the run.
    let mut expected = filled;
    if let Some(o) = &spec.overwrite {
        expected += (filled as f64 * if let Until::DriveWrites(n) = o.until { n } else { 1.5 }) as u64;
    }
    let mut written = 0;
    while written < filled {
        let to = (written + CHUNK).min(filled);
        if spec.out_of_date > 0.0 {
            p.write_repeatedly(Lpn(written as u32), Lpn(to as u32), || dated.again());
        } else {
            p.write_in_order(Lpn(written as u32), Lpn(to as u32));
        }
        written = to;
        if !progress(written, expected.max(written)) {
            return None;
        }
    }
    let mut outcome = Preconditioned::FILLED;
    let overwrite = spec.overwrite.as_ref().filter(|_| !drive.ftl.gc.imposes() && filled > 0);
    if let Some(o) = overwrite {
        // Sequential overwrites gather super word lines as the fill does, others meet no consecutive pages.
        if drive.ftl.allocation == Allocation::SuperWordLine && o.addresses != AddressSpec::Sequential {
            p.forget_stripe();
        }
        let mut overwrites = Overwrites::new(&o.addresses, filled, drive, &p, &streams);
        let quarter = (filled / 4).max(1);
        let mut before = p.written();
        let total = match o.until {
            Until::DriveWrites(n) => (filled as f64 * n) as u64,
            Until::Steady { max_drive_writes, .. } => (filled as f64 * max_drive_writes) as u64,
        };
        let mut done = 0;
        while done < total {
            let in_quarter = quarter - done % quarter;
            let n = CHUNK.min(in_quarter).min(total - done);
            overwrites.make(&mut p, n);
            done += n;
            if !progress(written + done, expected.max(written + done)) {
                return None;
            }
            if done % quarter != 0 {
                continue;
            }
            let now = p.written();
            let wa = 1.0 + (now.1 - before.1) as f64 / (now.0 - before.0) as f64;
            before = now;
            outcome.quarters.push(wa);
            if let Until::Steady { tolerance, .. } = o.until
                && is_steady(&outcome.quarters, tolerance)
            {
                break;
            }
        }
        if let Until::Steady { tolerance, .. } = o.until {
            outcome.gave_up = !is_steady(&outcome.quarters, tolerance);
        }
        let all = written + done;
        if !overwrites.end(&mut p, &mut |_, _| progress(all, all)) {
            return None;
        }
    }
    p.finish();
    Some((PreconditionedState::Page(ftl), outcome))
}

/// Preconditions each namespace as a drive of its own.
fn precondition_namespaces(
    drive: &DriveSpec,
    spec: &PreconditionSpec,
    progress: &mut dyn FnMut(u64, u64) -> bool,
) -> Option<(PreconditionedState, Preconditioned)> {
    let (mut states, mut outcome) = (Vec::new(), Preconditioned { quarters: Vec::new(), gave_up: false });
    let mut before = 0;
    for (k, of) in (0..).zip(drive.namespaces().expect("the spec has been checked")) {
        let mut last = before;
        let mut own = |done, total| {
            last = before + done;
            progress(before + done, before + total)
        };
        let (state, found) = precondition(&of, &spec.of_namespace(drive, k), &mut own)?;
        states.push(state);
        before = last;
        outcome.quarters.extend(found.quarters);
        outcome.gave_up |= found.gave_up;
    }
    Some((EachNamespace(states).into(), outcome))
}

/// Random repeated writes during the fill that leave a share of the programmed units out of date.
struct OutOfDate {
    threshold: u64,
    rng: Rng,
}

impl OutOfDate {
    /// Whether to write the last unit again.
    fn again(&mut self) -> bool {
        self.rng.chance(self.threshold)
    }
}

/// Whether write amplification of the last two quarter-drives differs by less than `tolerance`; quarters before
/// garbage collection do not count.
fn is_steady(quarters: &[f64], tolerance: f64) -> bool {
    match quarters {
        [.., before, last] => *before > 1.0 && ((last - before) / before).abs() < tolerance,
        _ => false,
    }
}
