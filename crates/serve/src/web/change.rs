//! Changes of the suspension over HTTP: a JSON object of keys and values in, the drive time of the change out.

use crate::drive::simulated_drive::SimulatedDrive;
use crate::drive::suspension::{NotChanged, Settings};
use serde_json::{Value, json};
use tiny_http::Request;

/// Longest body in bytes: the server has read so much before it passes a request on, so that no client can hold it up.
pub const MOST: usize = 1024;

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
    let has = |name: &'static str, of: &str| {
        let value = request.headers().iter().find(|header| header.field.equiv(name));
        value.is_some_and(|value| value.value.as_str().to_ascii_lowercase().starts_with(of))
    };
    if !has("Content-Type", "application/json") {
        return Err((415, "legal: Content-Type: application/json".into()));
    }
    if has("Expect", "") || has("Connection", "upgrade") || has("Transfer-Encoding", "") {
        return Err((
            400,
            "legal: a body with Content-Length, without Expect, Upgrade and Transfer-Encoding".into(),
        ));
    }
    match request.body_length() {
        None => return Err((411, "legal: a body with Content-Length".into())),
        Some(length) if length > MOST => return Err((413, format!("legal: a body of at most {MOST} bytes"))),
        Some(_) => {}
    }
    let mut body = String::new();
    let read = request.as_reader().read_to_string(&mut body);
    let expected = "expected an object of keys and values, such as {\"suspend.erase.scheme\": \"deferred\"}";
    read.map_err(|_| (400, format!("no text; {expected}")))?;
    let json: Value = serde_json::from_str(&body).map_err(|error| (400, format!("{error}; {expected}")))?;
    let object = json.as_object().ok_or_else(|| (400, expected.to_string()))?;
    let text = |(key, value): (&String, &Value)| match value {
        Value::String(text) => Ok((key.clone(), text.clone())),
        Value::Number(_) | Value::Bool(_) => Ok((key.clone(), value.to_string())),
        _ => Err((400, format!("{key}: seen {value}; expected a text, a number, true or false"))),
    };
    object.iter().map(text).collect()
}
