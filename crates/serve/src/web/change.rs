//! Changes of the suspension over HTTP: a JSON object of keys and values in, the drive time of the change out.

use super::body::object;
use crate::drive::simulated_drive::SimulatedDrive;
use crate::drive::suspension::{NotChanged, Settings};
use serde_json::{Value, json};
use tiny_http::Request;

/// Makes the change in the body of `request`; status, and what the answer says.
pub fn change(request: &mut Request, drive: &SimulatedDrive) -> (u16, String) {
    match settings(request) {
        Err((status, why)) => (status, format!("{why}\n")),
        Ok(settings) => match drive.change_suspension(settings) {
            Ok(done) => {
                let at = done.at.as_secs_f64();
                (200, json!({ "at_s": at, "program": done.program, "erase": done.erase }).to_string())
            }
            Err(NotChanged::Refused(why)) => (400, format!("{why}\n")),
            Err(NotChanged::Ended) => (503, "the drive has ended\n".into()),
        },
    }
}

fn settings(request: &mut Request) -> Result<Settings, (u16, String)> {
    let expected = "an object of keys and values, such as {\"suspend.erase.scheme\": \"deferred\"}";
    let object = object(request, expected)?;
    let text = |(key, value): (&String, &Value)| match value {
        Value::String(text) => Ok((key.clone(), text.clone())),
        Value::Number(_) | Value::Bool(_) => Ok((key.clone(), value.to_string())),
        _ => Err((400, format!("{key}: seen {value}; expected a text, a number, true or false"))),
    };
    object.iter().map(text).collect()
}
