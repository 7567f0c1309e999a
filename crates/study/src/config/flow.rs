//! Reads the workload: one [[flow]] table each.

use super::twin;
use interpulse_engine::{Bytes, Duration, SimTime};
use interpulse_settings::{ConfigError, Document, Section, default, optional, required};
use interpulse_workload::{
    AddressSpec, Arrivals, AsciiLayout, BlockSize, Fit, FlowSpec, Format, Reorder, Source, SyntheticPacing,
    SyntheticSpec, TimeUnit, TracePacing, TraceSpec, TypeCode,
};
use std::path::Path;

/// Longest simulated time a flow may start or stop at.
const HORIZON: Duration = Duration::from_ms(100 * 24 * 3_600_000);

/// What belongs to a flow made up from distributions and to no other.
pub(super) const SYNTHETIC_KEYS: [&str; 16] = [
    "read",
    "trim",
    "flush-every",
    "block-size",
    "sizes",
    "size-weights",
    "alignment",
    "address",
    "exponent",
    "hot-share",
    "hot-traffic",
    "from",
    "to",
    "rate",
    "arrivals",
    "squared-variation",
];

/// Reads all flows. Files that a configuration in `folder` names lie beside it.
pub(super) fn read(document: &Document, queues: u32, folder: &Path) -> Result<Vec<FlowSpec>, ConfigError> {
    let sections = document.tables("flow")?;
    if sections.is_empty() {
        return Err(document.top().invalid("flow", "at least one [[flow]] table: the workload of a run"));
    }
    if sections.len() > 256 {
        return Err(document.top().invalid("flow", "at most 256 [[flow]] tables"));
    }
    let mut flows: Vec<FlowSpec> = Vec::new();
    for (i, mut section) in sections.into_iter().enumerate() {
        let flow = read_flow(&mut section, i, queues, folder)?;
        if flows.iter().any(|f| f.name == flow.name) {
            return Err(section.invalid("name", "a name no other flow has"));
        }
        flows.push(flow);
    }
    Ok(flows)
}

fn read_flow(s: &mut Section, index: usize, queues: u32, folder: &Path) -> Result<FlowSpec, ConfigError> {
    let name = s.string("name", "name in results", Some(&format!("flow{index}")))?;
    let source = if s.has("twin") {
        let requests = read_requests(s)?;
        Source::Twin(twin::read(s, requests, folder)?)
    } else if s.has("trace") {
        Source::Trace(read_trace(s)?)
    } else {
        Source::Synthetic(read_synthetic(s)?)
    };
    let start = s.duration("start", "when the flow begins", default(Duration::ZERO).at_most(HORIZON))?;
    let stop = s.optional_duration("stop", "when the flow ends", optional().positive().at_most(HORIZON))?;
    if stop.is_some_and(|stop| stop <= start) {
        return Err(s.conflict(&["stop", "start"], "a flow must stop after it starts"));
    }
    // A twin of so many requests ends by itself.
    let limit = if matches!(source, Source::Twin(_)) { None } else { read_requests(s)? };
    let queue = s.u32("queue", "submission queue pair, counted from 0", default(0))?;
    if queue >= queues {
        return Err(s.invalid("queue", format!("less than the {queues} pair(s) of host.queue-weights")));
    }
    Ok(FlowSpec {
        name,
        source,
        start: SimTime(start.as_ns()),
        stop: stop.map(|d| SimTime(d.as_ns())),
        limit,
        queue,
    })
}

fn read_requests(s: &mut Section) -> Result<Option<u64>, ConfigError> {
    let doc = "most requests of this flow; of a twin, how many its row is scaled to";
    s.optional_u64("requests", doc, optional().at_least(1))
}

fn read_synthetic(s: &mut Section) -> Result<SyntheticSpec, ConfigError> {
    for key in ["format", "fit", "reorder", "speed", "skip-bad-rows", "time-unit", "writes-are"] {
        s.refuse(key, "it belongs to a flow that replays a `trace`")?;
    }
    let pacing = match s.choice(
        "pacing",
        "closed loop, or open loop",
        Some("closed"),
        &[("closed", 0), ("open", 1)],
    )? {
        0 => {
            for key in ["rate", "arrivals", "squared-variation"] {
                s.refuse(key, "it belongs to pacing = \"open\"")?;
            }
            let depth = s.u32("depth", "requests kept outstanding", default(1).within(1..=65535))?;
            SyntheticPacing::Closed { depth }
        }
        _ => {
            s.refuse("depth", "it belongs to pacing = \"closed\"")?;
            let rate_per_s =
                s.per_second("rate", "mean arrivals per second", required().within(1e-3..=1e9))?;
            let kinds = [("fixed", 0), ("poisson", 1), ("hyper-exponential", 2)];
            let kind =
                s.choice("arrivals", "distribution of the gaps between arrivals", Some("poisson"), &kinds)?;
            let arrivals = match kind {
                0 => Arrivals::Fixed,
                1 => Arrivals::Poisson,
                _ => Arrivals::HyperExponential {
                    scv: s.f64(
                        "squared-variation",
                        "squared coefficient of variation of the gaps",
                        required().within(1.0..=1e4),
                    )?,
                },
            };
            if kind != 2 {
                s.refuse("squared-variation", "it belongs to arrivals = \"hyper-exponential\"")?;
            }
            SyntheticPacing::Open { rate_per_s, arrivals }
        }
    };
    let read_share = s.fraction("read", "share of reads; the rest writes", default(1.0))?;
    let trim_share = s.fraction("trim", "share of trims, taken from the writes", default(0.0))?;
    if read_share + trim_share > 1.0 {
        return Err(s.conflict(&["trim", "read"], "reads and trims together exceed all requests"));
    }
    let flush_every =
        s.optional_u64("flush-every", "a flush after this many writes", optional().at_least(1))?;
    let sized = || required().within(Bytes(512)..=Bytes::mib(16));
    let block_size = if s.has("sizes") {
        s.refuse("block-size", "`sizes` gives the sizes")?;
        let sizes = s.list_bytes("sizes", "request sizes", None, sized())?;
        let weights =
            s.list_f64("size-weights", "their weights", None, required().positive().at_most(1e9))?;
        if sizes.len() != weights.len() || sizes.is_empty() {
            return Err(s.conflict(&["size-weights", "sizes"], "there must be one weight for each size"));
        }
        BlockSize::Weighted(sizes.into_iter().zip(weights).collect())
    } else {
        s.refuse("size-weights", "it belongs to `sizes`")?;
        BlockSize::Fixed(s.bytes(
            "block-size",
            "size of a request",
            default(Bytes::kib(4)).within(Bytes(512)..=Bytes::mib(16)),
        )?)
    };
    let multiple = |b: &Bytes| b.get().is_multiple_of(512);
    let whole = match &block_size {
        BlockSize::Fixed(b) => multiple(b),
        BlockSize::Weighted(list) => list.iter().all(|(b, _)| multiple(b)),
    };
    if !whole {
        let key = if s.has("sizes") { "sizes" } else { "block-size" };
        return Err(s.invalid(key, "multiples of 512B"));
    }
    let alignment = s.bytes(
        "alignment",
        "addresses are multiples of this",
        default(Bytes::kib(4)).within(Bytes(512)..=Bytes::mib(16)),
    )?;
    if !multiple(&alignment) {
        return Err(s.invalid("alignment", "a multiple of 512B"));
    }
    let addresses = read_addresses(s, "address")?;
    let from = s.fraction("from", "start of the region addressed, as a share of the drive", default(0.0))?;
    let to = s.fraction("to", "end of the region addressed, as a share of the drive", default(1.0))?;
    if from >= to {
        return Err(s.conflict(&["from", "to"], "the region addressed is empty"));
    }
    Ok(SyntheticSpec {
        pacing,
        read_share,
        write_share: 1.0 - read_share - trim_share,
        trim_share,
        flush_every,
        block_size,
        alignment,
        addresses,
        from,
        to,
    })
}

/// Reads an address pattern whose name stands at `key`.
pub(super) fn read_addresses(s: &mut Section, key: &str) -> Result<AddressSpec, ConfigError> {
    let patterns: Vec<(&str, &str)> = interpulse_workload::ADDRESSES.iter().map(|&(n, _)| (n, n)).collect();
    let pattern = s.choice(key, "pattern of addresses", Some("uniform"), &patterns)?;
    read_pattern(s, pattern)
}

/// Reads the parameters of the address pattern `pattern` and refuses those of others.
pub(super) fn read_pattern(s: &mut Section, pattern: &str) -> Result<AddressSpec, ConfigError> {
    if pattern != "zipf" {
        s.refuse("exponent", "it belongs to the pattern zipf")?;
    }
    if pattern != "hot-cold" {
        s.refuse("hot-share", "it belongs to the pattern hot-cold")?;
        s.refuse("hot-traffic", "it belongs to the pattern hot-cold")?;
    }
    Ok(match pattern {
        "sequential" => AddressSpec::Sequential,
        "uniform" => AddressSpec::Uniform,
        "zipf" => AddressSpec::Zipf {
            exponent: s.f64(
                "exponent",
                "exponent of the Zipf distribution",
                required().positive().at_most(10.0),
            )?,
        },
        "hot-cold" => AddressSpec::HotCold {
            hot_share: s.fraction(
                "hot-share",
                "hot part of the region",
                required().positive().at_most(0.999),
            )?,
            hot_traffic: s.fraction(
                "hot-traffic",
                "share of requests to it",
                required().positive().at_most(1.0),
            )?,
        },
        other => unreachable!("{other} is not in the registry"),
    })
}

fn read_trace(s: &mut Section) -> Result<TraceSpec, ConfigError> {
    for key in SYNTHETIC_KEYS {
        s.refuse(key, "a trace says it")?;
    }
    let path = s.label("trace", "block trace to replay: plain, .gz or .zst")?.unwrap_or_default();
    if path.is_empty() {
        return Err(s.invalid("trace", "the path of a block trace (or give --trace FILE)"));
    }
    let formats: Vec<(&str, &str)> = interpulse_workload::FORMATS.iter().map(|&(n, _)| (n, n)).collect();
    let format = s.choice("format", "format of the trace", Some("auto"), &formats)?;
    let format = if format == "ascii" {
        let units = [("ns", TimeUnit::Ns), ("us", TimeUnit::Us), ("ms", TimeUnit::Ms)];
        let time = s.choice("time-unit", "unit of the first column", None, &units)?;
        let types = match s.u32("writes-are", "type code of a write, 0 or 1", required().within(0..=1))? {
            0 => TypeCode::ZeroWrites,
            _ => TypeCode::OneWrites,
        };
        Format::Ascii(AsciiLayout { time, types })
    } else {
        s.refuse("time-unit", "it belongs to format = \"ascii\"")?;
        s.refuse("writes-are", "it belongs to format = \"ascii\"")?;
        Format::named(format).expect("the registry and the parser agree")
    };
    let (pacing, fit) = read_replay(s)?;
    let orders = [("error", Reorder::Error), ("clamp", Reorder::Clamp)];
    let reorder = s.choice("reorder", "what becomes of rows whose time goes back", Some("error"), &orders)?;
    let skip_bad_rows =
        s.bool("skip-bad-rows", "count bad rows instead of stopping at the first", default(false))?;
    Ok(TraceSpec { path: path.into(), format, pacing, fit, reorder, skip_bad_rows })
}

/// Reads what traces and twins share: when requests are issued, and what becomes of addresses beyond the drive.
pub(super) fn read_replay(s: &mut Section) -> Result<(TracePacing, Fit), ConfigError> {
    let paces = [("recorded", 0), ("closed", 1)];
    let pacing = match s.choice("pacing", "recorded times, or closed loop", Some("recorded"), &paces)? {
        0 => {
            s.refuse("depth", "it belongs to pacing = \"closed\"")?;
            TracePacing::Recorded {
                speed: s.f64(
                    "speed",
                    "2 replays twice as fast as recorded",
                    default(1.0).within(1e-6..=1e6),
                )?,
            }
        }
        _ => {
            s.refuse("speed", "it belongs to pacing = \"recorded\"")?;
            TracePacing::Closed {
                depth: s.u32("depth", "requests kept outstanding", default(1).within(1..=65535))?,
            }
        }
    };
    let fits = [("error", Fit::Error), ("fold", Fit::Fold), ("scale", Fit::Scale)];
    let fit = s.choice("fit", "what becomes of addresses beyond the drive", Some("error"), &fits)?;
    Ok((pacing, fit))
}
