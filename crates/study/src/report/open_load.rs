//! Result section `steady.load`: what open flows offer and what the device serves.

use super::flash_space;
use super::json_values::without_nulls;
use super::overload::{self, Context, Growth, Load};
use crate::config::Case;
use crate::run::Measured;
use crate::run::batches::Batch;
use interpulse_flash::command::DieActivity;
use interpulse_host::{Backlog, BacklogSample};
use interpulse_workload::FlowSpec;
use serde_json::{Value, json};

/// Half of what a 95 % interval leaves out.
const OUTSIDE: f64 = 0.025;

/// Judgement of all open flows.
pub(super) struct OpenLoad {
    /// The section.
    pub section: Value,
    /// The most serious outcome: overloaded, else undecided.
    pub load: Load,
    /// Mean backlog in the first and second half of the arrivals.
    pub halves: [f64; 2],
}

/// Judges the open flows; `None` without any.
pub(super) fn judge(m: &Measured, case: &Case) -> Option<OpenLoad> {
    let context = &context(m);
    let open: Vec<(&FlowSpec, &Backlog)> =
        case.flows.iter().zip(&m.window.backlogs).filter(|(flow, _)| !flow.is_closed()).collect();
    let judged = |backlog: &Backlog| overload::judge(&backlog.samples, backlog.last(), context);
    let (backlog, load, flows) = match &open[..] {
        [] => return None,
        [(_, only)] => (*only, judged(only), None),
        several => {
            let all = m.window.backlogs.last()?;
            let each: Vec<Load> = several.iter().map(|(_, backlog)| judged(backlog)).collect();
            let sections = several.iter().zip(&each).map(|((flow, backlog), &load)| {
                let mut o = json!({ "name": flow.name });
                super::json_values::extend(&mut o, section(m, backlog, load, None));
                o
            });
            let sections: Value = sections.collect();
            let serious = |found: &Load| match found {
                Load::Overloaded { .. } => 2,
                Load::Undecided => 1,
                Load::Sustained => 0,
            };
            let worst = each.iter().copied().max_by_key(serious)?;
            // Flows that the device serves each for themselves need no judgement of their sum.
            let sum = if worst == Load::Sustained { worst } else { judged(all) };
            let load = if serious(&sum) > serious(&worst) { sum } else { worst };
            (all, load, Some(sections))
        }
    };
    // An excess of writes goes to the cache first, as long as it has room.
    let load = match load {
        Load::Sustained if overload::cache_fills(&cache(m), context) => Load::Undecided,
        load => load,
    };
    let halves = halves(backlog);
    Some(OpenLoad { section: section(m, backlog, load, flows), load, halves })
}

fn context(m: &Measured) -> Context {
    let busy = m.uses.iter().sum::<u64>() - m.uses[DieActivity::Idle as usize];
    Context {
        parallel: m.dies.len() as u64,
        lane_blocks: m.lane_blocks,
        gc_share: flash_space::gc_ns(m) as f64 / busy.max(1) as f64,
    }
}

/// Use of the write cache against the units that the host wrote.
fn cache(m: &Measured) -> Vec<BacklogSample> {
    let mut arrivals = 0;
    let sample = |batch: &Batch| {
        arrivals += batch.done.ftl.host_units;
        BacklogSample { at: m.start, arrivals, outstanding: batch.cached, least: batch.cached }
    };
    m.batches.iter().map(sample).collect()
}

fn halves(backlog: &Backlog) -> [f64; 2] {
    let (first, second) = backlog.samples.split_at(backlog.samples.len() / 2);
    let mean = |of: &[BacklogSample]| {
        of.iter().map(|sample| sample.outstanding as f64).sum::<f64>() / of.len().max(1) as f64
    };
    [mean(first), mean(second)]
}

/// Figures of one backlog; of an overload those since it began.
fn section(m: &Measured, backlog: &Backlog, load: Load, flows: Option<Value>) -> Value {
    let verdict = match load {
        Load::Overloaded { .. } => "overloaded",
        Load::Sustained => "served",
        Load::Undecided => "unknown",
    };
    let Some(last) = backlog.last() else {
        return without_nulls(json!({ "verdict": verdict, "flows": flows }));
    };
    // The first samples are no later start than the window's.
    let since = match load {
        Load::Overloaded { since } if since > backlog.samples.len() / 8 => Some(since),
        _ => None,
    };
    let (at, arrivals, outstanding) = since.map_or((m.start, 0, backlog.before), |k| {
        let sample = &backlog.samples[k];
        (sample.at, sample.arrivals, sample.outstanding)
    });
    let seconds = last.at.since(at).as_ns() as f64 / 1e9;
    let arrived = (last.arrivals - arrivals) as f64;
    let grown = last.outstanding as f64 - outstanding as f64;
    let per_second = |n: f64| (seconds > 0.0).then(|| n / seconds);
    let growth = (backlog.samples.len() > 2 + since.unwrap_or(0) + 2)
        .then(|| Growth::after(&backlog.samples, since.unwrap_or(0)));
    let interval = growth.and_then(|growth| {
        let half = growth.within(OUTSIDE);
        Some([per_second(arrived * (growth.mean - half))?, per_second(arrived * (growth.mean + half))?])
    });
    without_nulls(json!({
        "verdict": verdict,
        "offered_per_s": per_second(arrived),
        "served_per_s": per_second(arrived - grown),
        "backlog": [outstanding, last.outstanding],
        "growth_per_s": per_second(grown),
        "growth_interval_per_s": interval,
        "since_s": since.map(|_| at.since(m.start).as_ns() as f64 / 1e9),
        "flows": flows,
    }))
}
