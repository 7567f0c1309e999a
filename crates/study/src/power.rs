//! Power in a result: what was measured, audited and written.

use interpulse_drive::spec::PowerConstants;
use interpulse_engine::{Current, Duration, Power, SimTime};
use interpulse_flash::command::{SPENDERS, Spender};
use interpulse_flash::nand::Nand;
use interpulse_flash::nand::power::budget::Waits;
use interpulse_flash::nand::power::meter::Reading;
use interpulse_flash::nand::power::tally::{Energy, Rails, Spent};
use interpulse_flash::parts::PowerSpec;
use serde_json::{Map, Value, json};

/// What the flash array spent in a measurement window.
pub struct Measured {
    /// Time of the dies and bytes moved.
    pub spent: Spent,
    /// The current through time, if it was followed.
    pub reading: Option<Reading>,
    /// How dies waited for the budget; `None` without one.
    pub waits: Option<Waits>,
}

impl Measured {
    /// What `nand` has spent since `before`, at the end of a window.
    pub fn take(nand: &mut Nand, now: SimTime, before: &Spent) -> Measured {
        let spent = nand.spent(now).since(before);
        let reading = nand.meter().map(|meter| meter.read(now));
        Measured { spent, reading, waits: nand.budget().map(|budget| budget.waits) }
    }

    /// Checks that the energies of a window of this length are whole: every nanosecond of every die has been paid for
    /// once, and the operations add up to the total. Returns the energy in nJ; Err names what does not hold.
    pub fn audit(&self, part: &PowerSpec, dies: u32, window: Duration) -> Result<u64, String> {
        let (time, all) = (self.spent.die_time(), window.as_ns() * u64::from(dies));
        if time != all {
            return Err(format!("{time} ns of {all} ns of die time have an energy"));
        }
        let Rails { core, bus } = self.spent.energy(part).totals();
        let by_draw = self.spent.core_by_draw(part);
        if core != by_draw {
            return Err(format!("the operations spent {core} aJ, the dies {by_draw} aJ"));
        }
        if let Some(reading) = &self.reading
            && reading.energy.core != core
        {
            return Err(format!(
                "the dies spent {core} aJ by their states and {} aJ through time",
                reading.energy.core
            ));
        }
        Ok(((core + bus) / 1_000_000_000) as u64)
    }
}

/// Compares the two ways of adding up since the start of the simulation: sums by state, and the current through time.
/// Bytes count when their transfer ends, so that the buses are compared while nothing moves.
pub fn audit_meter(nand: &mut Nand, part: &PowerSpec, now: SimTime) -> Result<(), String> {
    let summed = nand.spent(now).energy(part).totals();
    let moves = nand.is_moving();
    match nand.meter().map(|meter| meter.total(now)) {
        Some(followed) if followed.core != summed.core || (!moves && followed.bus != summed.bus) => {
            Err(format!("the dies spent {summed:?} aJ by their states and {followed:?} aJ through time"))
        }
        _ => Ok(()),
    }
}

/// How often each spender did what it spends energy on; `None` for those that do not count operations.
pub type Counts = [Option<u64>; SPENDERS];

/// Power and energy as JSON. `requests` is the number of host requests, `length` that of the window, which is not zero.
pub fn report(
    m: &Measured,
    part: &PowerSpec,
    constants: &PowerConstants,
    budget: Option<Current>,
    counts: &Counts,
    requests: u64,
    length: Duration,
) -> Value {
    let energy = m.spent.energy(part);
    let Rails { core, bus } = energy.totals();
    let mut o = Map::new();
    let mw = |aj: u128, time: Duration| aj as f64 / time.as_ns() as f64 / 1e6;
    let constant = |power: Option<Power>| power.map(|power| power.as_uw() as f64 / 1e3);
    let (controller, dram) = (constant(constants.controller), constant(constants.dram));
    let mut mean = Map::new();
    mean.insert("nand_core".into(), json!(mw(core, length)));
    mean.insert("io_bus".into(), json!(mw(bus, length)));
    for (name, value) in [("controller", controller), ("dram", dram)] {
        value.and_then(|value| mean.insert(name.into(), json!(value)));
    }
    let constants = controller.unwrap_or(0.0) + dram.unwrap_or(0.0);
    mean.insert("total".into(), json!(mw(core + bus, length) + constants));
    o.insert("mean_mw".into(), Value::Object(mean));
    let ma = |aj: u128, mv: u64| aj as f64 / length.as_ns() as f64 / 1e3 / mv as f64;
    o.insert(
        "mean_ma".into(),
        json!({ "nand_core": ma(core, part.vcc.as_mv()), "io_bus": ma(bus, part.vccq.as_mv()) }),
    );
    let uj = |aj: u128| aj as f64 / 1e12;
    if requests > 0 {
        let each = |aj: u128| uj(aj) / requests as f64;
        o.insert(
            "per_request_uj".into(),
            json!({ "nand_core": each(core), "io_bus": each(bus), "total": each(core + bus) }),
        );
    }
    o.insert(
        "energy_uj".into(),
        json!({ "nand_core": uj(core), "io_bus": uj(bus), "total": uj(core + bus) }),
    );
    o.insert("by_operation".into(), by_operation(&energy, counts));
    if let Some(reading) = &m.reading {
        o.insert("peak".into(), peak(reading, part));
        o.insert("over_time".into(), over_time(reading));
    }
    if let (Some(waits), Some(limit)) = (m.waits, budget) {
        o.insert("budget".into(), waited(&waits, limit, part));
    }
    Value::Object(o)
}

/// What each kind of operation took in all, and each operation on average.
fn by_operation(energy: &Energy, counts: &Counts) -> Value {
    let uj = |aj: u128| aj as f64 / 1e12;
    let rows = Spender::ALL.iter().map(|&(name, spender, _)| {
        let (core, bus) = (energy.core[spender as usize], energy.bus[spender as usize]);
        let mut row = json!({ "nand_core_uj": uj(core), "io_bus_uj": uj(bus), "total_uj": uj(core + bus) });
        if let Some(count) = counts[spender as usize] {
            row["count"] = json!(count);
            if count > 0 {
                row["each_uj"] = json!(uj(core + bus) / count as f64);
            }
        }
        (name.to_string(), row)
    });
    Value::Object(rows.collect())
}

/// The largest window, and the largest current at any instant.
fn peak(reading: &Reading, part: &PowerSpec) -> Value {
    let most = reading.most;
    let mut o = json!({
        "window_us": reading.window.as_us_f64(),
        "windows": reading.windows,
        "instant_ma": most.as_ma_f64(),
        "instant_mw": (most.as_ua() * part.vcc.as_mv()) as f64 / 1e6,
    });
    if let Some((energy, at)) = reading.peak {
        o["window_mw"] = json!(energy as f64 / reading.window.as_ns() as f64 / 1e6);
        o["at_ms"] = json!(at.as_ns() as f64 / 1e6);
    }
    o
}

/// Mean power of equal intervals.
fn over_time(reading: &Reading) -> Value {
    let interval = reading.series.interval;
    let mw = |aj: u128| json!(aj as f64 / interval.as_ns() as f64 / 1e6);
    let energies = &reading.series.energies;
    json!({
        "interval_us": interval.as_us_f64(),
        "nand_core_mw": energies.iter().map(|of| mw(of.core)).collect::<Value>(),
        "io_bus_mw": energies.iter().map(|of| mw(of.bus)).collect::<Value>(),
    })
}

fn waited(waits: &Waits, limit: Current, part: &PowerSpec) -> Value {
    let mut o = json!({
        "limit_ma": limit.as_ma_f64(),
        "limit_mw": (limit.as_ua() * part.vcc.as_mv()) as f64 / 1e6,
        "waits": waits.count,
        "waited_us": waits.total as f64 / 1e3,
    });
    if waits.count > 0 {
        o["mean_us"] = json!(waits.total as f64 / 1e3 / waits.count as f64);
        o["longest_us"] = json!(waits.longest.as_us_f64());
    }
    o
}
