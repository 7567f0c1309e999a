//! Does a change of the suspension take effect while the drive runs, and is it in the report, for those who may make it?

use crate::drive_session::Shared;
use crate::drive_thread::{setup, start};
use interpulse_serve::command::{Command, Done, Kind};
use interpulse_serve::drive::clock::Pace;
use interpulse_serve::drive::metrics::prometheus;
use interpulse_serve::drive::simulated_drive::{Setup, SimulatedDrive};
use interpulse_serve::drive::suspension::NotChanged;
use interpulse_serve::web::Web;
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::mpsc::Receiver;

/// A full drive, whose writes erase.
const FULL: &str = "drive = \"a4-mini\"\npart.blocks-per-plane = 24\nprecondition.fill = 1.0\n";
/// Token of the listener.
const TOKEN: &str = "a-token-of-the-test";

/// Status and body of the answer to a change.
fn post(to: SocketAddr, fields: &str, body: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(to).expect("it listens");
    let request = format!("POST /suspension HTTP/1.1\r\n{fields}Connection: close\r\n\r\n{body}");
    stream.write_all(request.as_bytes()).expect("it reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it answers");
    let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok());
    let (_, body) = answer.split_once("\r\n\r\n").expect("a head and a body");
    (status.expect("a status"), body.trim_end().to_string())
}

/// Fields of a legal change of this body.
fn fields(to: SocketAddr, body: &str) -> String {
    format!("Host: {to}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n", body.len())
}

/// Runs a mixed load to its end.
fn load(drive: &SimulatedDrive, done: &Receiver<Done>, first: u64) {
    let units = drive.capacity() / 16_384;
    let commands = (first..first + 12_000).map(|cookie| {
        let offset = cookie.wrapping_mul(0x9e37_79b9_7f4a_7c15) % units * 16_384;
        let kind = if cookie % 3 == 0 { Kind::Read } else { Kind::Write { fua: false } };
        Command { connection: 0, cookie, kind, offset, length: 16_384 }
    });
    let commands: Vec<_> = commands.collect();
    std::thread::scope(|scope| {
        scope.spawn(|| commands.chunks(64).for_each(|few| drive.submit(few).expect("it takes them")));
        commands.iter().for_each(|_| assert!(done.recv().is_ok()));
    });
}

fn suspends(drive: &SimulatedDrive) -> (u64, u64) {
    let nand = drive.view().expect("it runs").counters.nand;
    (nand.program_suspends, nand.erase_suspends)
}

#[test]
fn a_change_under_load_begins_suspensions_and_is_reported() {
    let (drive, done) = start(setup(FULL, Pace::Max, 256));
    let drive = Arc::new(drive);
    let web = Web::start("127.0.0.1:0", None, Arc::clone(&drive)).expect("a free port");
    let to = web.address();
    load(&drive, &done, 0);
    assert_eq!(suspends(&drive), (0, 0));
    let body = r#"{"suspend.program.scheme": "immediate", "suspend.program.max-suspends": 3}"#;
    let (status, answer) = post(to, &fields(to, body), body);
    let answer: Value = serde_json::from_str(&answer).unwrap_or_else(|_| panic!("{status}: {answer}"));
    assert_eq!((status, &answer["program"], &answer["erase"]), (200, &json!("immediate"), &json!("none")));
    // The first change stays.
    let body = r#"{"suspend.erase.scheme": "deferred"}"#;
    let (status, second) = post(to, &fields(to, body), body);
    assert!(status == 200 && second.contains("\"program\":\"immediate\",\"erase\":\"deferred\""), "{second}");
    load(&drive, &done, 12_000);
    let (programs, erases) = suspends(&drive);
    assert!(programs > 0 && erases > 0, "{programs} {erases}");
    let metrics = prometheus(&drive.view().expect("it runs"));
    assert!(metrics.contains("interpulse_suspension_info{program=\"immediate\",erase=\"deferred\"} 1\n"));
    assert!(metrics.contains("interpulse_suspension_changes_total 2\n"));
    drop(web);
    let report = drive.finish().expect("the audit holds");
    let json = report.to_json();
    let changes = json["suspension"]["changes"].as_array().expect("a list");
    assert_eq!(changes.len(), 2);
    let at = answer["at_s"].as_f64().expect("a time");
    assert!(at > 0.0 && (changes[0]["at_ns"].as_f64().expect("a time") / 1e9 - at).abs() < 1e-9);
    assert_eq!(changes[0]["settings"]["suspend.program.max-suspends"], "3");
    assert_eq!(
        (&changes[1]["erase"], &json["suspension"]["erase"]),
        (&json!("deferred"), &json!("deferred"))
    );
    let text = report.to_text();
    assert!(
        text.contains("s of drive time: suspend.erase.scheme = deferred (program immediate, erase deferred)")
    );
}

#[test]
fn changes_that_are_not_legal_change_nothing() {
    let (drive, done) = start(setup(FULL, Pace::Max, 256));
    let drive = Arc::new(drive);
    let web = Web::start("127.0.0.1:0", Some(TOKEN.into()), Arc::clone(&drive)).expect("a free port");
    let to = web.address();
    let token = format!("Authorization: Bearer {TOKEN}\r\n");
    for (body, expected) in [
        (r#"{"suspend.erase.scheme": "never"}"#, "inter-phase"),
        (r#"{"suspend.erase.max-suspends": "few"}"#, "max-suspends"),
        (r#"{"seed": 3}"#, "legal while the drive runs: keys of suspend.program and suspend.erase"),
        (r#"{"suspend.erase.scheme": null}"#, "expected a text, a number, true or false"),
        ("{}", "no key"),
        ("[1]", "expected an object of keys and values"),
        ("{", "expected an object of keys and values"),
    ] {
        let (status, why) = post(to, &format!("{token}{}", fields(to, body)), body);
        assert!(status == 400 && why.contains(expected), "{body}: {status} {why}");
    }
    let body = r#"{"suspend.erase.scheme": "ideal"}"#;
    let own = fields(to, body);
    let long = "x".repeat(2000);
    let json_of = |rest: &str| format!("{token}Host: {to}\r\nContent-Type: application/json\r\n{rest}");
    for (head, body, expected) in [
        (own.clone(), body, 401),
        (format!("{token}{}", own.replace(&to.to_string(), "evil.example")), body, 421),
        (format!("{token}{own}Origin: http://evil.example\r\n"), body, 403),
        (format!("{token}{}", own.replace("application/json", "text/plain")), body, 415),
        (format!("{token}{}", fields(to, &long)), &long, 413),
        (json_of(""), "", 411),
        (json_of("Transfer-Encoding: chunked\r\n"), "0\r\n\r\n", 400),
    ] {
        assert_eq!(post(to, &head, body).0, expected, "{head}");
    }
    load(&drive, &done, 0);
    assert_eq!(suspends(&drive), (0, 0));
    drop(web);
    assert_eq!(drive.finish().expect("it works").to_json()["suspension"]["changes"], json!([]));
    let settings = vec![("suspend.erase.scheme".to_string(), "ideal".to_string())];
    assert_eq!(drive.change_suspension(settings), Err(NotChanged::Ended));
}

#[test]
fn a_recorded_session_keeps_its_suspension() {
    let record = Some(Box::new(Shared::default()) as Box<_>);
    let (drive, _done) = start(Setup { record, ..setup(FULL, Pace::Max, 10) });
    let settings = vec![("suspend.erase.scheme".to_string(), "ideal".to_string())];
    match drive.change_suspension(settings) {
        Err(NotChanged::Refused(why)) => assert!(why.contains("without --record"), "{why}"),
        other => panic!("{other:?}"),
    }
    drive.finish().expect("it works");
}

#[test]
fn a_client_that_sends_no_body_holds_up_nobody() {
    let (drive, _done) = start(setup(FULL, Pace::Max, 10));
    let drive = Arc::new(drive);
    let web = Web::start("127.0.0.1:0", None, Arc::clone(&drive)).expect("a free port");
    let to = web.address();
    let mut silent = Vec::new();
    for head in ["Content-Length: 900\r\n", "Content-Length: 90000\r\n", "Transfer-Encoding: chunked\r\n"] {
        let mut stream = TcpStream::connect(to).expect("it listens");
        let head = format!(
            "POST /suspension HTTP/1.1\r\nHost: {to}\r\nContent-Type: application/json\r\n{head}\r\n"
        );
        stream.write_all(head.as_bytes()).expect("it reads");
        silent.push(stream);
    }
    let body = r#"{"suspend.erase.scheme": "ideal"}"#;
    for _ in 0..3 {
        assert_eq!(post(to, &fields(to, body), body).0, 200);
    }
    drop(silent);
}
