//! Result section `power`.

use super::json_values::without_nulls;
use crate::run::power::Measured;
use interpulse_drive::spec::PowerConstants;
use interpulse_engine::{Current, Duration, Power};
use interpulse_flash::command::{ENERGY_CATEGORIES, EnergyCategory};
use interpulse_flash::nand::power::budget::Waits;
use interpulse_flash::nand::power::meter::Reading;
use interpulse_flash::nand::power::tally::{Energy, Rails};
use interpulse_flash::parts::PowerSpec;
use serde_json::{Value, json};

/// Operations per energy category; `None` for categories without a count.
type Counts = [Option<u64>; ENERGY_CATEGORIES];

/// Power and energy as JSON. `requests` is the number of host requests; `length`, the window, is not zero.
pub(super) fn section(
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
    let mw = |aj: u128, time: Duration| aj as f64 / time.as_ns() as f64 / 1e6;
    let constant = |power: Option<Power>| power.map(|power| power.as_uw() as f64 / 1e3);
    let (controller, dram) = (constant(constants.controller), constant(constants.dram));
    let always = controller.unwrap_or(0.0) + dram.unwrap_or(0.0);
    let ma = |aj: u128, mv: u64| aj as f64 / length.as_ns() as f64 / 1e3 / mv as f64;
    let uj = |aj: u128| aj as f64 / 1e12;
    let each = |aj: u128| uj(aj) / requests as f64;
    let per_request = json!({ "nand_core": each(core), "io_bus": each(bus), "total": each(core + bus) });
    without_nulls(json!({
        "mean_mw": without_nulls(json!({
            "nand_core": mw(core, length),
            "io_bus": mw(bus, length),
            "controller": controller,
            "dram": dram,
            "total": mw(core + bus, length) + always,
        })),
        "mean_ma": { "nand_core": ma(core, part.vcc.as_mv()), "io_bus": ma(bus, part.vccq.as_mv()) },
        "per_request_uj": (requests > 0).then_some(per_request),
        "energy_uj": { "nand_core": uj(core), "io_bus": uj(bus), "total": uj(core + bus) },
        "by_operation": by_operation(&energy, counts),
        "peak": m.reading.as_ref().map(|reading| peak(reading, part)),
        "over_time": m.reading.as_ref().map(over_time),
        "budget": m.waits.zip(budget).map(|(waits, limit)| waited(&waits, limit, part)),
    }))
}

/// Energy by category: in total and per operation.
fn by_operation(energy: &Energy, counts: &Counts) -> Value {
    let uj = |aj: u128| aj as f64 / 1e12;
    let rows = EnergyCategory::ALL.iter().map(|&(name, spender, _)| {
        let (core, bus) = (energy.core[spender as usize], energy.bus[spender as usize]);
        let count = counts[spender as usize];
        let row = json!({
            "nand_core_uj": uj(core),
            "io_bus_uj": uj(bus),
            "total_uj": uj(core + bus),
            "count": count,
            "each_uj": count.filter(|&n| n > 0).map(|n| uj(core + bus) / n as f64),
        });
        (name.to_string(), without_nulls(row))
    });
    Value::Object(rows.collect())
}

/// Largest window and largest instantaneous current.
fn peak(reading: &Reading, part: &PowerSpec) -> Value {
    let most = reading.most;
    without_nulls(json!({
        "window_us": reading.window.as_us_f64(),
        "windows": reading.windows,
        "instant_ma": most.as_ma_f64(),
        "instant_mw": (most.as_ua() * part.vcc.as_mv()) as f64 / 1e6,
        "window_mw": reading.peak.map(|(energy, _)| energy as f64 / reading.window.as_ns() as f64 / 1e6),
        "at_ms": reading.peak.map(|(_, at)| at.as_ns() as f64 / 1e6),
    }))
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
    let some = waits.count > 0;
    without_nulls(json!({
        "limit_ma": limit.as_ma_f64(),
        "limit_mw": (limit.as_ua() * part.vcc.as_mv()) as f64 / 1e6,
        "waits": waits.count,
        "waited_us": waits.total as f64 / 1e3,
        "mean_us": some.then(|| waits.total as f64 / 1e3 / waits.count as f64),
        "longest_us": some.then(|| waits.longest.as_us_f64()),
    }))
}
