//! Result section `hold_up`: capacitor energy of a protected cache.

use super::json_values::without_nulls;
use interpulse_drive::Drive;
use interpulse_drive::DriveSpec;
use interpulse_drive::{HoldUp, Ways};
use interpulse_flash::hold_up::save_plan::Save;
use serde_json::{Value, json};

/// Section of the drive that drew most energy from its capacitors at the power loss; `None` if no drive has capacitors.
pub fn section(drives: &[Drive]) -> Option<Value> {
    let saves = drives.iter().filter_map(|drive| Some((drive.spec(), drive.recoveries().last()?.hold_up?)));
    let (spec, of): (&DriveSpec, HoldUp) = saves.max_by_key(|(_, of)| of.at_cut.finish.energy())?;
    Some(json!({
        "at_cut": ways(spec, &of.at_cut, of.pages),
        "worst": ways(spec, &of.worst, of.most_pages),
    }))
}

fn ways(spec: &DriveSpec, of: &Ways, pages: u64) -> Value {
    without_nulls(json!({
        "pages": pages,
        "erases_finish": save(spec, &of.finish),
        "erases_stop": of.stop.map(|stop| save(spec, &stop)),
    }))
}

fn save(spec: &DriveSpec, of: &Save) -> Value {
    let uj = |aj: u128| aj as f64 / 1e12;
    let [controller, dram] = HoldUp::constants(spec, of.time);
    let total = of.energy() + controller + dram;
    let capacitor = spec.power_loss.and_then(|of| of.capacitor);
    without_nulls(json!({
        "busy_dies": of.busy,
        "ready_us": of.ready.as_ns() as f64 / 1e3,
        "time_us": of.time.as_ns() as f64 / 1e3,
        "programs": of.programs,
        "energy_uj": without_nulls(json!({
            "finishing": uj(of.finishing),
            "saving": uj(of.saving),
            "resting": uj(of.resting),
            "bus": uj(of.bus),
            "controller": spec.constants.controller.map(|_| uj(controller)),
            "dram": spec.constants.dram.map(|_| uj(dram)),
            "total": uj(total),
        })),
        "capacitance_uf": capacitor.map(|of| of.nanofarads(total) as f64 / 1e3),
    }))
}
