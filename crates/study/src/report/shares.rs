//! What dies spent their time on.

use interpulse_flash::command::{USES, Use};
use serde_json::{Value, json};

/// The shares of the time in `uses`, in ns, by what it was spent on.
pub(super) fn time_share(uses: &[u64; USES]) -> Value {
    let total = uses.iter().sum::<u64>();
    let share = |parts: &[Use]| {
        let sum: u64 = parts.iter().map(|&u| uses[u as usize]).sum();
        if total == 0 { 0.0 } else { sum as f64 / total as f64 }
    };
    json!({
        "idle": share(&[Use::Idle]),
        "reading": share(&[Use::SenseHost, Use::SenseGc]),
        "programming": share(&[Use::PulseHost, Use::PulseGc, Use::StopProgram]),
        "erasing": share(&[Use::Erase, Use::StopErase]),
        "suspended": share(&[Use::Suspended]),
        "waiting_for_bus": share(&[Use::BusHost, Use::BusGc, Use::BusProgram]),
    })
}
