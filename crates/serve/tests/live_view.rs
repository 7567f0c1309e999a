//! Does the live view show the figures of the drive, to those who may see them?

use crate::drive_session::DRIVE;
use crate::drive_thread::{setup, start};
use interpulse_serve::command::{Command, Kind};
use interpulse_serve::drive::clock::Pace;
use interpulse_serve::web::Web;
use serde_json::Value;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;

/// Status and body of an answer, and whether it has a policy.
pub fn ask(to: SocketAddr, method: &str, path: &str, fields: &str) -> (u16, String) {
    ask_with(to, method, path, fields, "")
}

/// As [`ask`], with a body.
pub fn ask_with(to: SocketAddr, method: &str, path: &str, fields: &str, body: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(to).expect("it listens");
    let request = format!("{method} {path} HTTP/1.1\r\n{fields}Connection: close\r\n\r\n{body}");
    stream.write_all(request.as_bytes()).expect("it reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it answers");
    let (head, body) = answer.split_once("\r\n\r\n").expect("a head and a body");
    assert!(head.contains("Content-Security-Policy: default-src 'none'"), "{head}");
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
    (status.expect("a status"), body.to_string())
}

#[test]
fn the_live_view_shows_the_figures_of_the_metrics() {
    let (drive, done) = start(setup(DRIVE, Pace::Max, 1000));
    let drive = Arc::new(drive);
    let web = Web::start("127.0.0.1:0", None, Arc::clone(&drive)).expect("a free port");
    let (to, own) = (web.address(), format!("Host: {}\r\n", web.address()));
    let write = |k: u64| {
        let (kind, offset) = (Kind::Write { fua: k.is_multiple_of(9) }, 4096 * k);
        Command { connection: 0, cookie: k, kind, offset, length: 4096 }
    };
    drive.submit(&(0..500).map(write).collect::<Vec<_>>()).expect("it takes them");
    (0..500).for_each(|_| assert!(done.recv().is_ok()));
    let (status, metrics) = ask(to, "GET", "/metrics", &own);
    assert_eq!(status, 200);
    let metric = |name: &str| {
        let line =
            metrics.lines().find(|line| line.strip_prefix(name).is_some_and(|rest| rest.starts_with(' ')));
        let value = line.and_then(|line| line.rsplit(' ').next()?.parse::<f64>().ok());
        value.unwrap_or_else(|| panic!("no {name} in {metrics}"))
    };
    let (status, body) = ask(to, "GET", "/live.json", &own);
    let live: Value = serde_json::from_str(&body).expect("JSON");
    assert_eq!(status, 200);
    let mut commands = 0.0;
    for of in live["operations"].as_array().expect("a list") {
        let name = of["operation"].as_str().expect("a name");
        assert_eq!(
            of["commands"].as_f64(),
            Some(metric(&format!("interpulse_commands_total{{op=\"{name}\"}}")))
        );
        commands += of["commands"].as_f64().expect("a number");
    }
    assert_eq!(commands, 500.0);
    for (key, name) in [
        ("dies", "dies"),
        ("busy_dies", "dies_busy"),
        ("suspended_dies", "dies_suspended"),
        ("cached_units", "write_cache_units"),
        ("outstanding", "commands_outstanding"),
        ("write_amplification", "write_amplification_ratio"),
        ("drive_s", "drive_seconds_total"),
    ] {
        assert_eq!(live[key].as_f64(), Some(metric(&format!("interpulse_{name}"))), "{key}");
    }
    assert_eq!(live["slowest"].as_array().map(Vec::len), Some(10));
    for (path, part) in [("/", "<table>"), ("/page.js", "live.json"), ("/style.css", "table {")] {
        let (status, body) = ask(to, "GET", path, &own);
        assert!(status == 200 && body.contains(part), "{path}: {status}");
    }
    for (method, path, fields, expected) in [
        ("GET", "/other", own.as_str(), 404),
        ("POST", "/metrics", own.as_str(), 405),
        ("GET", "/metrics", "Host: evil.example\r\n", 421),
        ("GET", "/", "", 421),
        ("GET", "/metrics", &format!("{own}Origin: http://evil.example\r\n"), 403),
    ] {
        assert_eq!(ask(to, method, path, fields).0, expected, "{method} {path} {fields}");
    }
    // Ends its thread, which holds the drive.
    drop(web);
    assert_eq!(Arc::strong_count(&drive), 1);
    drive.finish().expect("the device works");
}

#[test]
fn figures_need_the_token_where_one_is_set() {
    let (drive, _done) = start(setup(DRIVE, Pace::Max, 10));
    let drive = Arc::new(drive);
    let refused = |address: &str| match Web::start(address, None, Arc::clone(&drive)) {
        Err(why) => why,
        Ok(_) => panic!("it listens at {address}"),
    };
    assert!(refused("0.0.0.0:0").contains("other machines"));
    for address in ["127.0.0.1", "127.0.0.1:99999", "", "no such host:1"] {
        assert!(refused(address).starts_with(&format!("web = \"{address}\": ")));
    }
    let web = Web::start("127.0.0.1:0", Some("a-token-of-the-test".into()), Arc::clone(&drive))
        .expect("a free port");
    assert!(refused(&web.address().to_string()).contains("in use"));
    let own = format!("Host: {}\r\n", web.address());
    let with = format!("{own}Authorization: Bearer a-token-of-the-test\r\n");
    for (path, fields, expected) in [
        ("/", &own, 200),
        ("/page.js", &own, 200),
        ("/live.json", &own, 401),
        ("/metrics", &own, 401),
        ("/metrics", &with, 200),
        ("/live.json?token=a-token-of-the-test", &own, 200),
    ] {
        assert_eq!(ask(web.address(), "GET", path, fields).0, expected, "{path} {fields}");
    }
}
