//! Bodies of requests that change the drive: JSON objects.

use serde_json::{Map, Value};
use tiny_http::Request;

/// Longest body in bytes: the server has read so much before it passes a request on, so that no client can hold it up.
pub const MOST: usize = 1024;

/// The object in the body of `request`; otherwise status and text of the refusal, which names `expected`.
pub fn object(request: &mut Request, expected: &str) -> Result<Map<String, Value>, (u16, String)> {
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
    read.map_err(|_| (400, format!("no text; expected {expected}")))?;
    let json: Value =
        serde_json::from_str(&body).map_err(|error| (400, format!("{error}; expected {expected}")))?;
    match json {
        Value::Object(object) => Ok(object),
        _ => Err((400, format!("expected {expected}"))),
    }
}
