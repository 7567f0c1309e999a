//! Does the server serve several clients, keep data, and withstand clients that misbehave?

use crate::handshake::option_bytes;
use crate::requests::request_bytes;
use interpulse_embed::Options;
use interpulse_serve::drive::clock::Pace;
use interpulse_serve::drive::report::Report;
use interpulse_serve::drive::simulated_drive::Setup;
use interpulse_serve::protocol::numbers::{option, request, request_flag};
use interpulse_serve::server::address::Address;
use interpulse_serve::server::{Parts, ServeError, Server};
use interpulse_serve::store::Store;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const DRIVE: &str = "drive = \"a4-mini\"\npart.blocks-per-plane = 24\nprecondition.fill = 0.0\n";
/// Longest wait for an answer.
pub const PATIENCE: Duration = Duration::from_secs(60);

pub type Lines = Arc<Mutex<Vec<String>>>;

/// A server that runs.
pub struct Running {
    server: Server,
    folder: tempfile::TempDir,
    lines: Lines,
}

/// Parts of a server that keeps its data in `folder`.
pub fn parts(folder: &Path, lines: &Lines) -> Parts {
    let to = Arc::clone(lines);
    let data = folder.join("data");
    Parts {
        drive: Setup {
            options: Options::new(DRIVE),
            pace: Pace::Max,
            limit: 4096,
            record: None,
            state: None,
        },
        store: Box::new(move |bytes| Ok(Store::open(&data, bytes)?)),
        name: "drive".into(),
        is_read_only: false,
        listen: vec![Address::Unix(folder.join("socket"))],
        certificates: None,
        remote_writes: false,
        connections: 4,
        web: None,
        patience: PATIENCE,
        log: Arc::new(move |line| to.lock().unwrap().push(line.into())),
    }
}

fn running() -> Running {
    Running::new()
}

impl Running {
    /// A server with the usual limits.
    pub fn new() -> Running {
        Running::with(|folder, lines| Server::start(parts(folder, lines)).unwrap())
    }

    /// The server that `start` makes.
    pub fn with(start: impl FnOnce(&Path, &Lines) -> Server) -> Running {
        let (folder, lines) = (tempfile::tempdir().unwrap(), Lines::default());
        let server = start(folder.path(), &lines);
        Running { server, folder, lines }
    }

    /// Folder of its files.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The server.
    pub fn server(&self) -> &Server {
        &self.server
    }

    /// Ends the server.
    pub fn stop(&self) -> Result<Report, ServeError> {
        self.server.stop()
    }

    pub fn connect(&self) -> UnixStream {
        let stream = UnixStream::connect(self.folder.path().join("socket")).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    pub fn client(&self) -> Client {
        let mut stream = self.connect();
        let mut greeting = [0; 18];
        stream.read_exact(&mut greeting).unwrap();
        let mut hello = 3_u32.to_be_bytes().to_vec();
        hello.extend(option_bytes(option::GO, &[0; 6]));
        stream.write_all(&hello).unwrap();
        // Block sizes, export, and the end of the replies.
        let mut replies = [0; 3 * 20 + 14 + 12];
        stream.read_exact(&mut replies).unwrap();
        Client { stream }
    }

    /// Waits for a line that contains `text`.
    pub fn expect_line(&self, text: &str) {
        let began = Instant::now();
        while !self.lines.lock().unwrap().iter().any(|line| line.contains(text)) {
            assert!(began.elapsed() < PATIENCE, "no line has {text:?}: {:?}", self.lines.lock().unwrap());
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// A client in its transmission phase.
pub struct Client {
    pub stream: UnixStream,
}

impl Client {
    pub fn send(&mut self, flags: u16, kind: u16, offset: u64, length: u32, data: &[u8]) {
        let bytes = [&request_bytes(flags, kind, offset, length), data].concat();
        self.stream.write_all(&bytes).unwrap();
    }

    /// The error of the next reply, with `length` bytes of data if it is none.
    pub fn receive(&mut self, length: usize) -> Result<Vec<u8>, u32> {
        let mut head = [0; 16];
        self.stream.read_exact(&mut head).unwrap();
        assert_eq!(head[..4], [0x67, 0x44, 0x66, 0x98]);
        let error = u32::from_be_bytes(head[4..8].try_into().unwrap());
        if error != 0 {
            return Err(error);
        }
        let mut data = vec![0; length];
        self.stream.read_exact(&mut data).unwrap();
        Ok(data)
    }

    pub fn write(&mut self, offset: u64, data: &[u8]) -> Result<Vec<u8>, u32> {
        self.send(request_flag::FUA, request::WRITE, offset, data.len() as u32, data);
        self.receive(0)
    }

    pub fn read(&mut self, offset: u64, length: u32) -> Result<Vec<u8>, u32> {
        self.send(0, request::READ, offset, length, &[]);
        self.receive(length as usize)
    }
}

#[test]
fn what_one_client_writes_another_reads_and_a_restart_keeps() {
    let running = running();
    let (mut first, mut second) = (running.client(), running.client());
    let data: Vec<u8> = (0..1 << 20).map(|k: u32| (k / 512) as u8 ^ k as u8).collect();
    first.write(4096, &data).unwrap();
    assert!(second.read(4096, 1 << 20).unwrap() == data);
    second.send(0, request::TRIM, 4096, 4096, &[]);
    second.receive(0).unwrap();
    second.send(0, request::WRITE_ZEROES, 8192, 4096, &[]);
    second.receive(0).unwrap();
    first.send(0, request::FLUSH, 0, 0, &[]);
    first.receive(0).unwrap();
    assert!(first.read(4096, 12288).unwrap() == [&[0; 8192], &data[8192..12288]].concat());
    let size = running.server.export().bytes;
    assert_eq!(first.read(size, 512), Err(22));
    assert_eq!(first.write(size, &[0; 512]), Err(28));
    let report = running.server.stop().unwrap().to_json();
    assert_eq!(report["operations"]["trim"]["commands"], 1);
    let Running { server, folder, lines } = running;
    drop(server);
    assert!(!folder.path().join("socket").exists());
    let server = Server::start(parts(folder.path(), &lines)).unwrap();
    let again = Running { server, folder, lines };
    assert!(again.client().read(12288, 4096).unwrap() == data[8192..12288]);
    assert!(again.lines.lock().unwrap().is_empty(), "no client did anything wrong");
}

#[test]
fn many_requests_at_a_time_all_complete() {
    let running = running();
    let mut client = running.client();
    // A client that sends much before it reads, and reads more than the limit of reads under way.
    let mut sender = Client { stream: client.stream.try_clone().unwrap() };
    let sending = std::thread::spawn(move || {
        for k in 0..6000_u32 {
            sender.send(0, request::READ, u64::from(k % 500) * 4096, 32 << 10, &[]);
        }
    });
    for _ in 0..6000 {
        assert!(client.receive(32 << 10).unwrap() == [0; 32 << 10]);
    }
    sending.join().unwrap();
}

#[test]
fn the_longest_reads_and_writes_keep_their_bytes() {
    let running = running();
    let mut client = running.client();
    let data: Vec<u8> = (0..32 << 20).map(|k: u32| (k / 4096) as u8 ^ k as u8).collect();
    client.write(512, &data).unwrap();
    for length in [32 << 20, (5 << 20) + 512, (1 << 20) + 512, 1 << 20] {
        assert!(client.read(512, length).unwrap() == data[..length as usize], "{length}");
    }
    client.write(0, &[1; 512]).unwrap();
    assert!(client.read(0, 1024).unwrap() == [&[1; 512], &data[..512]].concat());
}

#[test]
fn clients_that_misbehave_are_named_and_harm_nobody() {
    let running = running();
    let mut good = running.client();
    let mut other = running.connect();
    other.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    running.expect_line("handshake flags");
    let mut wrong = running.client();
    wrong.stream.write_all(&[1; 28]).unwrap();
    running.expect_line("instead of that of a request");
    assert_eq!(wrong.stream.read(&mut [0; 1]).unwrap_or(0), 0, "it is closed");
    // A client that sends reads without end and never takes a reply.
    let mut silent = running.client();
    silent.stream.set_write_timeout(Some(Duration::from_millis(300))).unwrap();
    let many = request_bytes(0, request::READ, 0, 1 << 20).repeat(1000);
    let mut sent = 0;
    while let Ok(count) = silent.stream.write(&many) {
        sent += count;
        assert!(sent < 64 << 20, "the server must stop reading");
    }
    good.write(0, &[5; 4096]).unwrap();
    assert_eq!(good.read(0, 4096).unwrap(), [5; 4096]);
    // Connections beyond the limit, opened and dropped.
    let open: Vec<_> = (0..3).map(|_| running.connect()).collect();
    running.expect_line("4 are open, the most");
    drop(open);
    for _ in 0..300 {
        drop(running.connect());
    }
    assert_eq!(good.read(0, 4096).unwrap(), [5; 4096]);
    drop(silent);
    running.server.stop().unwrap();
}

#[test]
fn an_address_in_use_and_a_file_in_its_place_are_refused() {
    let running = running();
    let lines = Lines::default();
    let start = |parts: Parts| Server::start(parts).err().map(|error| error.to_string()).unwrap_or_default();
    let again = start(parts(running.folder.path(), &lines));
    assert!(again.contains("another server listens there"), "{again}");
    let other = tempfile::tempdir().unwrap();
    std::fs::write(other.path().join("socket"), "text").unwrap();
    let occupied = start(parts(other.path(), &lines));
    assert!(occupied.contains("a file that is no socket"), "{occupied}");
    assert_eq!(std::fs::read(other.path().join("socket")).unwrap(), b"text");
    for (text, expected) in [
        ("unix:", "unix:PATH or tcp:HOST:PORT"),
        ("tcp:10809", "tcp:HOST:PORT"),
        ("127.0.0.1:10809", "unix:PATH or tcp:HOST:PORT"),
    ] {
        let error = text.parse::<Address>().unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    assert!(matches!("tcp:127.0.0.1:0".parse(), Ok(Address::Tcp(_))));
}
