//! Result section `time_share`: die time by use.

use interpulse_flash::command::{DIE_ACTIVITIES, DieActivity};
use serde_json::{Value, json};

/// Shares of `uses`, in ns, by category.
pub(super) fn time_share(uses: &[u64; DIE_ACTIVITIES]) -> Value {
    let total = uses.iter().sum::<u64>();
    let share = |parts: &[DieActivity]| {
        let sum: u64 = parts.iter().map(|&u| uses[u as usize]).sum();
        if total == 0 { 0.0 } else { sum as f64 / total as f64 }
    };
    json!({
        "idle": share(&[DieActivity::Idle]),
        "reading": share(&[DieActivity::SenseHost, DieActivity::SenseGc]),
        "programming": share(&[DieActivity::PulseHost, DieActivity::PulseGc, DieActivity::StopProgram]),
        "erasing": share(&[DieActivity::Erase, DieActivity::StopErase]),
        "suspended": share(&[DieActivity::Suspended]),
        "waiting_for_bus": share(&[DieActivity::BusHost, DieActivity::BusGc, DieActivity::BusProgram]),
    })
}
