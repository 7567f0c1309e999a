//! A script played on a single die of a resolved configuration, as JSON; see [`interpulse_flash::script`].

use crate::config::PlanError;
use crate::plan::Plan;
use interpulse_engine::{Duration, SimTime};
use interpulse_flash::command::Kind;
use interpulse_flash::phases;
use interpulse_flash::script::{Probe, Script, play};
use serde_json::{Value, json};

/// The longest time that a script may cover: a scheme that starves its operation would not end by itself.
pub const LONGEST: Duration = Duration::from_ms(60_000);

/// What is to happen on the die, in ns.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Operations with the instants of their arrival.
    pub arrivals: Vec<(String, u64)>,
    /// Reads this long after the first pulse of an operation, and this long after each command to resume it.
    pub probe: Option<(u64, u64)>,
    /// Selects the sample of dies.
    pub seed: u64,
    /// Nothing is simulated beyond this instant.
    pub horizon_ns: u64,
}

/// Drives one die of the first case of a plan. The JSON has `spans`, each with its first instant and its end in ns,
/// what the die was doing, and the program or erase on it (or null); `phases`, which take the spans apart, each with its
/// first instant and its end, what happened ([`interpulse_flash::die::What`]), the program or erase on the die, whether a stop had been asked
/// for, and whether this part of the train had been done before; and `operations` with `arrived_ns` and `done_ns`;
/// `suspends` is the number of suspensions.
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
    let phases: Vec<Value> = phases::of(&timeline)
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
