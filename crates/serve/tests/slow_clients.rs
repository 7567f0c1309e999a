//! Does a server end requests that do not end, and never call data durable after a flush has failed?

use crate::requests::request_bytes;
use crate::server::{Client, PATIENCE, Running, parts};
use interpulse_serve::protocol::numbers::{request, request_flag};
use interpulse_serve::server::Server;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

/// The limit of the test, in place of half a minute.
const LIMIT: Duration = Duration::from_millis(300);

/// A server with this limit.
fn impatient() -> Running {
    Running::with(|folder, lines| {
        let mut parts = parts(folder, lines);
        parts.patience = LIMIT;
        Server::start(parts).unwrap()
    })
}

#[test]
fn a_request_and_a_handshake_that_do_not_end_are_ended() {
    let running = impatient();
    let mut idle = running.client();
    let mut silent = running.connect();
    let mut half = running.client();
    half.stream.write_all(&request_bytes(0, request::WRITE, 0, 4096)).unwrap();
    half.stream.write_all(&[1; 100]).unwrap();
    running.expect_line("a handshake of more than 0.3 s");
    running.expect_line("a request that takes more than 0.3 s to arrive");
    assert_eq!(silent.read_to_end(&mut Vec::new()).unwrap(), 18, "the greeting, and the end");
    assert_eq!(half.stream.read(&mut [0; 1]).unwrap_or(0), 0);
    // One byte now and then does not help.
    let mut slow = running.client();
    let (began, bytes) = (Instant::now(), request_bytes(0, request::READ, 0, 4096));
    let sent = bytes.iter().take_while(|byte| {
        std::thread::sleep(LIMIT / 10);
        slow.stream.write_all(&[**byte]).is_ok()
    });
    assert!(sent.count() < bytes.len() && began.elapsed() < PATIENCE);
    // A client may be silent between its requests.
    assert_eq!(idle.read(0, 512).unwrap(), [0; 512]);
}

/// Descriptor of the backing file of this process, found by its name.
fn descriptor(running: &Running) -> i32 {
    let data = running.folder().join("data").canonicalize().unwrap();
    let all = std::fs::read_dir("/proc/self/fd").unwrap().filter_map(Result::ok);
    let own = all.filter(|entry| std::fs::read_link(entry.path()).is_ok_and(|link| link == data));
    own.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).next().expect("the file is open")
}

#[test]
fn after_a_failed_flush_every_later_one_fails() {
    let running = Running::new();
    let mut client = running.client();
    client.write(0, &[7; 4096]).unwrap();
    let (descriptor, (_reader, pipe)) = (descriptor(&running), std::io::pipe().unwrap());
    let flush = |client: &mut Client| {
        client.send(0, request::FLUSH, 0, 0, &[]);
        client.receive(0)
    };
    // SAFETY: both descriptors are open, and the number stays in use.
    let replace = |by: i32| assert_eq!(unsafe { libc::dup2(by, descriptor) }, descriptor);
    let file = File::options().read(true).write(true).open(running.folder().join("data")).unwrap();
    // A pipe cannot be flushed: what a failing disk looks like.
    replace(pipe.as_raw_fd());
    assert_eq!(flush(&mut client), Err(5));
    replace(file.as_raw_fd());
    assert_eq!(flush(&mut client), Err(5), "the system may have dropped data");
    client.send(request_flag::FUA, request::WRITE, 4096, 512, &[1; 512]);
    assert_eq!(client.receive(0), Err(5));
    client.send(0, request::WRITE, 8192, 512, &[2; 512]);
    assert_eq!(client.receive(0), Ok(vec![]), "a write that claims no durability");
    assert_eq!(running.client().read(0, 4096).unwrap(), [7; 4096]);
    assert!(running.stop().is_err_and(|error| error.to_string().contains("cannot be flushed")));
}
