//! A single die of a resolved configuration, driven by hand, as JSON; see [`interpulse_flash::bench`].

use crate::config::PlanError;
use crate::plan::Plan;
use interpulse_engine::{Duration, SimTime};
use interpulse_flash::bench::{self, OPERATIONS, Probe, Script};
use interpulse_flash::die::{LongKind, State};
use interpulse_flash::nand::txn::Kind;
use interpulse_flash::phases;
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
/// first instant and its end, what happened ([`phases::What`]), the program or erase on the die, whether a stop had been asked
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
        let kind = OPERATIONS.iter().find(|(n, _)| n == name).map(|&(_, kind)| kind).ok_or_else(|| {
            let names: Vec<&str> = OPERATIONS.iter().map(|&(n, _)| n).collect();
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
    let timeline = bench::drive(&drive.part, drive.nand.clone(), &script);
    let spans: Vec<Value> = timeline
        .spans
        .iter()
        .map(|s| json!([s.from.0, s.to.0, state_name(s.state), s.long.map(long_name)]))
        .collect();
    let phases: Vec<Value> = phases::of(&timeline, &drive.part, &drive.nand, script.planes)
        .iter()
        .map(|p| json!([p.from.0, p.to.0, p.what.name(), p.long.map(long_name), p.running_on, p.again]))
        .collect();
    let operations: Vec<Value> = timeline
        .operations
        .iter()
        .map(|o| json!({"kind": kind_name(o.kind), "arrived_ns": o.arrived.0, "done_ns": o.done.map(|at| at.0)}))
        .collect();
    Ok(json!({ "spans": spans, "phases": phases, "operations": operations, "suspends": timeline.suspends })
        .to_string())
}

fn kind_name(kind: Kind) -> &'static str {
    OPERATIONS.iter().find(|&&(_, k)| k == kind).expect("every kind has a name").0
}

fn long_name(kind: LongKind) -> &'static str {
    match kind {
        LongKind::HostProgram => "program",
        LongKind::GcProgram => "gc-program",
        LongKind::Erase => "erase",
    }
}

fn state_name(state: State) -> &'static str {
    match state {
        State::Idle => "idle",
        State::Command => "command",
        State::Sensing => "sensing",
        State::OutWait => "out-wait",
        State::Out => "out",
        State::Recalling => "recalling",
        State::LoadWait => "load-wait",
        State::Load => "load",
        State::Pulsing => "pulsing",
        State::Stopping => "stopping",
        State::Entering => "entering",
        State::Suspended => "suspended",
        State::Resuming => "resuming",
        State::Retrying => "retrying",
        State::Held => "held",
    }
}
