//! What a protected cache asks of its capacitors, in a result.

use interpulse_drive::drive::Drive;
use interpulse_drive::drive::hold_up::{HoldUp, Ways};
use interpulse_drive::spec::DriveSpec;
use interpulse_flash::hold_up::plan::Save;
use serde_json::{Map, Value, json};

/// Of the drive whose save at the cut took the most energy; `None` where nothing was saved on capacitors.
pub fn section(drives: &[Drive]) -> Option<Value> {
    let saves = drives.iter().filter_map(|drive| Some((drive.spec(), drive.recoveries().last()?.hold_up?)));
    let (spec, of): (&DriveSpec, HoldUp) = saves.max_by_key(|(_, of)| of.at_cut.finish.energy())?;
    Some(json!({
        "at_cut": ways(spec, &of.at_cut, of.pages),
        "worst": ways(spec, &of.worst, of.most_pages),
    }))
}

fn ways(spec: &DriveSpec, of: &Ways, pages: u64) -> Value {
    let mut o = Map::new();
    o.insert("pages".into(), json!(pages));
    o.insert("erases_finish".into(), save(spec, &of.finish));
    if let Some(stop) = &of.stop {
        o.insert("erases_stop".into(), save(spec, stop));
    }
    Value::Object(o)
}

fn save(spec: &DriveSpec, of: &Save) -> Value {
    let uj = |aj: u128| json!(aj as f64 / 1e12);
    let [controller, dram] = HoldUp::constants(spec, of.time);
    let total = of.energy() + controller + dram;
    let mut o = Map::new();
    o.insert("busy_dies".into(), json!(of.busy));
    o.insert("ready_us".into(), json!(of.ready.as_ns() as f64 / 1e3));
    o.insert("time_us".into(), json!(of.time.as_ns() as f64 / 1e3));
    o.insert("programs".into(), json!(of.programs));
    let mut energy = Map::new();
    for (name, aj) in
        [("finishing", of.finishing), ("saving", of.saving), ("resting", of.resting), ("bus", of.bus)]
    {
        energy.insert(name.into(), uj(aj));
    }
    for (name, constant, aj) in
        [("controller", spec.constants.controller, controller), ("dram", spec.constants.dram, dram)]
    {
        if constant.is_some() {
            energy.insert(name.into(), uj(aj));
        }
    }
    energy.insert("total".into(), uj(total));
    o.insert("energy_uj".into(), Value::Object(energy));
    if let Some(capacitor) = spec.power_loss.and_then(|of| of.capacitor) {
        o.insert("capacitance_uf".into(), json!(capacitor.nanofarads(total) as f64 / 1e3));
    }
    Value::Object(o)
}
