//! Scale of a case: sizes that decide the result by themselves, such as a write cache that is a large share of the drive.
//!
//! Drives are made smaller to save time. Write amplification, tails and wear carry over to the large drive only if cache,
//! spare blocks and the addresses of the load are made smaller too.

use super::decimal_size::decimal_size;
use crate::config::Case;
use interpulse_drive::DriveSpec;
use interpulse_engine::SECTOR;
use interpulse_workload::{Fit, FlowSpec, Source, SyntheticSpec, TraceSpec, TraceSummary};
use serde_json::Value;

/// Largest share of the capacity that a cache in proportion takes.
const CACHE_OF_CAPACITY: f64 = 0.02;
/// Largest share of the addresses written by the load that the cache may hold.
const CACHE_OF_FOOTPRINT: f64 = 0.1;
/// Largest share of the spare blocks of a lane that open blocks and the victim may take.
const OPEN_OF_SPARE: f64 = 0.25;
/// Smallest share of the capacity that the load addresses.
const FOOTPRINT_OF_CAPACITY: f64 = 0.1;

/// Notes on the scale of several cases, each once: those of some of the cases name them. A case has the first readings of
/// its traces beside it.
pub fn together<'a>(cases: impl ExactSizeIterator<Item = (&'a Case, &'a [TraceSummary])>) -> Vec<String> {
    let count = cases.len();
    let mut lines = Vec::<(String, Vec<&str>)>::new();
    for (case, traces) in cases {
        for line in scale_notes(case, traces) {
            match lines.iter_mut().find(|(known, _)| *known == line) {
                Some((_, names)) => names.push(&case.name),
                None => lines.push((line, vec![&case.name])),
            }
        }
    }
    let named = |(line, names): (String, Vec<&str>)| {
        if names.len() == count {
            return line;
        }
        let names: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
        format!("case{} {}: {line}", if names.len() > 1 { "s" } else { "" }, names.join(", "))
    };
    lines.into_iter().map(named).collect()
}

/// Notes on the scale of a case before its run. `traces` are the first readings of its traces, in order.
pub fn scale_notes(case: &Case, traces: &[TraceSummary]) -> Vec<String> {
    let drive = &case.drive;
    let capacity = drive.capacity().usable.get() as f64;
    let mut traces = traces.iter();
    let mut lines = Vec::new();
    let (mut written, mut writes) = (0.0f64, false);
    let mut of_traces = Vec::new();
    for flow in &case.flows {
        match &flow.source {
            Source::Synthetic(synthetic) => {
                written += written_share(synthetic);
                writes |= synthetic.write_share > 0.0;
            }
            Source::Trace(spec) => {
                let Some(found) = traces.next() else { continue };
                of_traces.extend(trace_scale(case, flow, spec, found));
                written = 1.0;
                writes |= found.writes > 0;
            }
            // Zones are written whole, one after another.
            Source::Zones(_) => {}
            Source::Twin(_) => (written, writes) = (1.0, true),
        }
    }
    let cache = cache_scale(drive, capacity, written.min(1.0));
    lines.extend(cache.filter(|_| writes));
    lines.extend(spare_scales(drive).into_iter().filter(|_| writes));
    lines.extend(footprint_scale(&case.flows, capacity * f64::from(case.drives())));
    lines.extend(of_traces);
    lines
}

/// Note on a completed case whose written data mostly stayed in the cache, from its `result`.
pub fn absorbed_note(case: &Case, result: &Value) -> Option<String> {
    let written = result["counters"]["host"]["written_bytes"].as_u64()? as f64;
    let flash =
        result["counters"]["ftl"]["host_units"].as_u64()? as f64 * case.drive.geometry.unit_bytes as f64;
    let absorbs = !case.drive.cache.acknowledge.waits_for_programs() && case.array.is_none();
    (absorbs && written > 0.0 && flash < written / 2.0).then(|| {
        format!(
            "the host wrote {} while the run was measured, of which {} reached flash: the write cache of {} kept or \
             overwrote the rest, so write amplification and wear say little; run longer or give a smaller cache.size",
            size(written),
            size(flash),
            case.drive.cache.size
        )
    })
}

/// Share of the capacity that a flow writes to.
fn written_share(flow: &SyntheticSpec) -> f64 {
    if flow.write_share > 0.0 { flow.to - flow.from } else { 0.0 }
}

fn cache_scale(drive: &DriveSpec, capacity: f64, written: f64) -> Option<String> {
    if drive.cache.acknowledge.waits_for_programs() {
        return None;
    }
    let of = drive.cache.size;
    let bytes = of.get() as f64;
    if bytes > CACHE_OF_CAPACITY * capacity {
        let usual = drive.proportional_cache();
        let remedy =
            if usual < of { format!("; in proportion: cache.size = {usual}") } else { String::new() };
        return Some(format!(
            "cache.size = {of} is {} of the drive's {}: above 2 % the cache by itself decides write amplification, which \
             a larger drive does not show{remedy}",
            percent(bytes / capacity),
            size(capacity)
        ));
    }
    (written > 0.0 && bytes > CACHE_OF_FOOTPRINT * written * capacity).then(|| {
        format!(
            "cache.size = {of} is {} of the {} that the load writes to: overwrites in the cache decide write amplification",
            percent(bytes / (written * capacity)),
            size(written * capacity)
        )
    })
}

/// Notes on the spare blocks of the drive or of each namespace.
fn spare_scales(drive: &DriveSpec) -> Vec<String> {
    if !drive.is_divided() {
        return spare_scale(drive).into_iter().collect();
    }
    let conventional = drive.conventional_zones() > 0;
    let name = |k| if conventional { "conventional zones".into() } else { format!("namespace {k}") };
    let named = |(k, of): (u32, DriveSpec)| Some(format!("{}: {}", name(k), spare_scale(&of)?));
    let collects = |of: &(u32, DriveSpec)| of.1.ftl.zones.is_none();
    (1..).zip(drive.namespaces().unwrap_or_default()).filter(collects).filter_map(named).collect()
}

fn spare_scale(drive: &DriveSpec) -> Option<String> {
    if drive.ftl.gc.imposes() || drive.ftl.log_blocks.is_some() {
        return None;
    }
    let spare = drive.spare_blocks_of_lane().ok()?;
    // The open block of host data, half that of moved data, the victim; half an open block for each further level.
    let open = 2.5 + f64::from(drive.ftl.hotness.levels()) / 2.0;
    let blocks = drive.layout().ok()?.blocks;
    (open > OPEN_OF_SPARE * spare).then(|| {
        format!(
            "a lane has {blocks} blocks, {spare:.1} of them spare; open blocks and the one being emptied take about {open} \
             ({}): write amplification is that of less over-provisioning; more part.blocks-per-plane make it that of a \
             larger drive",
            percent(open / spare)
        )
    })
}

/// Note on synthetic flows that together address a small part of `capacity` bytes.
fn footprint_scale(flows: &[FlowSpec], capacity: f64) -> Option<String> {
    let mut share = 0.0;
    let mut writes = false;
    for flow in flows {
        let Source::Synthetic(of) = &flow.source else { return None };
        share += of.to - of.from;
        writes |= of.write_share > 0.0;
    }
    (writes && share < FOOTPRINT_OF_CAPACITY).then(|| {
        format!(
            "the load addresses {} of the capacity ({}): the rest is never overwritten, so write amplification and wear \
             are those of a small hot part; a smaller drive.capacity, or flow.N.to, changes that",
            percent(share),
            size(share * capacity)
        )
    })
}

/// Notes on a trace whose addresses exceed the drive, or use little of it.
fn trace_scale(case: &Case, flow: &FlowSpec, spec: &TraceSpec, found: &TraceSummary) -> Option<String> {
    let (name, sectors) = (spec.path.display(), case.flow_sectors(flow));
    let (end, capacity) = (found.end_sector(), sectors as f64);
    if end > sectors {
        let how = match spec.fit {
            // The first request beyond the drive stops the run with its own message.
            Fit::Error => return None,
            Fit::Fold => "folding lays addresses over one another that the trace keeps apart",
            Fit::Scale => "scaling lays neighbouring addresses over one another",
        };
        return Some(format!(
            "trace {name}: its addresses need {:.1} times the capacity of {}, and {how}: write amplification and hits in \
             the cache are those of another load; drive.capacity of at least {} keeps them",
            end as f64 / capacity,
            decimal_size(sectors),
            decimal_size(end)
        ));
    }
    let span: u64 = found.devices.iter().map(|of| of.end_sector - of.first_sector).sum();
    let volume = (found.read_bytes.get() + found.written_bytes.get()) / SECTOR.get();
    let most = span.min(volume);
    (found.writes > 0 && (most as f64) < FOOTPRINT_OF_CAPACITY * capacity).then(|| {
        format!(
            "trace {name}: it touches at most {} ({}) of a capacity of {}, so most data is never overwritten and garbage \
             collection has little to do; a smaller drive.capacity changes that",
            decimal_size(most),
            percent(most as f64 / capacity),
            decimal_size(sectors)
        )
    })
}

fn percent(share: f64) -> String {
    let share = share * 100.0;
    if share < 10.0 { format!("{share:.1} %") } else { format!("{share:.0} %") }
}

fn size(bytes: f64) -> String {
    decimal_size((bytes / SECTOR.get() as f64) as u64)
}
