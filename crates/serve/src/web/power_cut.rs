//! Power cuts over HTTP: an empty JSON object in, the power cuts so far out.

use super::body::object;
use super::live::power_cuts;
use crate::drive::simulated_drive::SimulatedDrive;
use tiny_http::Request;

/// Cuts the power of the drive; status, and what the answer says.
pub fn cut(request: &mut Request, drive: &SimulatedDrive) -> (u16, String) {
    match object(request, "{}") {
        Err((status, why)) => (status, format!("{why}\n")),
        Ok(object) if !object.is_empty() => {
            let keys: Vec<&str> = object.keys().map(String::as_str).collect();
            (
                400,
                format!("{}: unknown; legal: {{}}, since a cut lasts power-loss.off-for\n", keys.join(", ")),
            )
        }
        Ok(_) if !drive.cut_power() => {
            let why = "the power cannot be cut: legal with a section [power-loss]\n";
            (409, why.into())
        }
        // The thread of the drive makes the view after the cut.
        Ok(_) => match drive.view() {
            Some(view) => (200, power_cuts(&view.power_cuts).to_string()),
            None => (503, "the drive has ended\n".into()),
        },
    }
}
