//! Die timeline: a script of operations on a single die of a configuration, as JSON; see
//! [`interpulse_flash::script`].

use crate::config::PlanError;
use crate::plan::Plan;
use interpulse_engine::{Duration, SimTime};
use interpulse_flash::command::Kind;
use interpulse_flash::phases;
use interpulse_flash::script::{Probe, Script, play};
use serde_json::{Value, json};

/// Longest script: a scheme that starves its operation does not end by itself.
pub const LONGEST: Duration = Duration::from_ms(60_000);

/// Script of a die, in ns.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Operations with their arrival times.
    pub arrivals: Vec<(String, u64)>,
    /// Reads this long after the first pulse of an operation, and this long after each resume command.
    pub probe: Option<(u64, u64)>,
    /// Seed of the die sample.
    pub seed: u64,
    /// End of the simulation.
    pub horizon_ns: u64,
}

/// Runs a script on one die of the first case. The JSON has `spans` (first instant and end in ns, die state, the
/// program or erase on the die or null), `phases`, which split the spans (first instant, end,
/// [`interpulse_flash::die::DiePhase`], program or erase, whether a stop was requested, whether this part of the train
/// is repeated), `operations` with `arrived_ns` and `done_ns`, and `suspends`, the number of suspensions.
pub fn timeline(plan: &Plan, request: &Request) -> Result<String, PlanError> {
    let drive = &plan.cases()[0].drive;
    if request.horizon_ns == 0 || request.horizon_ns > LONGEST.as_ns() {
        let most = LONGEST.as_ns();
        return Err(PlanError(format!(
            "horizon_ns = {}: at least 1 and at most {most} ns",
            request.horizon_ns
        )));
    }
    let mut arrivals = Vec::new();
    for (name, at) in &request.arrivals {
        let kind = Kind::named(name).ok_or_else(|| {
            let names = Kind::ALL.map(|kind| kind.command().name);
            PlanError(format!("no operation '{name}' for a die; one of {}", names.join(", ")))
        })?;
        arrivals.push((SimTime(*at), kind));
    }
    let script = Script {
        arrivals,
        probe: request.probe.map(|(first, then)| Probe {
            first: Duration::from_ns(first),
            then: Duration::from_ns(then),
            random: false,
        }),
        planes: drive.ftl.multi_plane,
        read_page: 0,
        seed: request.seed,
        horizon: SimTime(request.horizon_ns),
    };
    let timeline = play(&drive.part, drive.nand.clone(), &script);
    let name = |kind: Kind| kind.command().name;
    let spans: Vec<Value> =
        timeline.spans.iter().map(|s| json!([s.from.0, s.to.0, s.state.name(), s.long.map(name)])).collect();
    let phases: Vec<Value> = phases::split(&timeline)
        .iter()
        .map(|p| json!([p.from.0, p.to.0, p.what.name(), p.long.map(name), p.running_on, p.again]))
        .collect();
    let operations: Vec<Value> = timeline
        .operations
        .iter()
        .map(|o| json!({"kind": name(o.kind), "arrived_ns": o.arrived.0, "done_ns": o.done.map(|at| at.0)}))
        .collect();
    Ok(json!({ "spans": spans, "phases": phases, "operations": operations, "suspends": timeline.suspends })
        .to_string())
}
