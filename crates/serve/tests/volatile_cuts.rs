//! Do the data of a served drive become those that its flash holds after a power cut, with and without loss protection?

use crate::drive_session::Draw;
use crate::live_view::{ask, ask_with};
use crate::server::{Client, Running, parts};
use interpulse_embed::Options;
use interpulse_serve::drive::clock::Pace;
use interpulse_serve::drive::simulated_drive::Setup;
use interpulse_serve::protocol::numbers::{request, request_flag};
use interpulse_serve::server::{Parts, Server, WebAt};
use std::collections::BTreeMap;
use std::io::Read;
use std::time::Duration;

const DRIVE: &str = "drive = \"a4-mini\"\npart.blocks-per-plane = 24\nprecondition.fill = 0.0\n\
                     [power-loss]\nat = \"100d\"\noff-for = \"1ms\"\n";
const UNIT: usize = 4096;
const SECTOR: usize = 512;
/// Units that the clients use: few, so that each is written often.
const UNITS: u64 = 96;

fn serving(more: &str, pace: Pace) -> Running {
    let config = format!("{DRIVE}{more}");
    Running::with(move |folder, lines| {
        let drive = Setup { options: Options::new(config), pace, limit: 4096, record: None, state: None };
        let web = Some(WebAt { address: "127.0.0.1:0".into(), token: None });
        Server::start(Parts { drive, web, ..parts(folder, lines) }).unwrap()
    })
}

/// Contents that a unit has had, the oldest first, of which a power cut may restore those from `floor` on.
struct History {
    contents: Vec<Vec<u8>>,
    floor: usize,
    /// The last content whose command has completed.
    acknowledged: usize,
    /// Range and data of the newest change, and whether it is durable.
    newest_change: (usize, Vec<u8>, bool),
}

impl History {
    fn new() -> History {
        History::of(vec![0; UNIT])
    }

    fn of(content: Vec<u8>) -> History {
        let newest_change = (0, Vec::new(), false);
        History { contents: vec![content], floor: 0, acknowledged: 0, newest_change }
    }

    fn newest(&self) -> &[u8] {
        self.contents.last().unwrap()
    }

    /// A command changes `range` of the unit to `data`.
    fn change(&mut self, from: usize, data: &[u8]) {
        let mut content = self.newest().to_vec();
        content[from..from + data.len()].copy_from_slice(data);
        self.contents.push(content);
        self.newest_change = (from, data.to_vec(), false);
    }

    /// The newest command has completed; with `durable` no cut takes it back.
    fn acknowledge(&mut self, durable: bool) {
        self.acknowledged = self.contents.len() - 1;
        self.newest_change.2 = durable;
    }

    /// No cut takes back what is acknowledged.
    fn make_durable(&mut self) {
        self.floor = self.acknowledged.max(self.floor);
    }

    /// After a cut the unit has `content`: whether an acknowledged one is lost.
    ///
    /// The newest change, sent beside the cut, may have been made after it, to a content that the cut has restored.
    fn survived(&mut self, unit: u64, content: &[u8]) -> bool {
        let newest = self.contents.len() - 1;
        let (from, data, durable) = &self.newest_change;
        let mut lost = None;
        for at in (self.floor..=newest).rev() {
            let mut after = self.contents[at].clone();
            after[*from..from + data.len()].copy_from_slice(data);
            if content == after {
                lost = Some(at + 1 < newest && at + 1 < self.acknowledged);
            } else if content == self.contents[at] && (at == newest || !durable) {
                lost = Some(at < self.acknowledged);
            }
            if lost.is_some() {
                break;
            }
        }
        let legal = newest + 1 - self.floor;
        let lost = lost.unwrap_or_else(|| panic!("unit {unit} has none of its {legal} legal contents"));
        *self = History::of(content.to_vec());
        lost
    }
}

/// A command of the test.
struct Sent {
    offset: usize,
    /// What the bytes from `offset` on become.
    data: Vec<u8>,
    durable: bool,
}

/// A client that follows what it has written.
struct Verifier {
    client: Client,
    draw: Draw,
    units: BTreeMap<u64, History>,
    /// Acknowledged contents that cuts took back.
    lost: u64,
    /// Commands that cuts ended.
    failed: u64,
    stamp: u64,
}

impl Verifier {
    fn new(client: Client, seed: u64) -> Verifier {
        let units = (0..UNITS).map(|unit| (unit, History::new())).collect();
        Verifier { client, draw: Draw(seed), units, lost: 0, failed: 0, stamp: 0 }
    }

    /// Data whose sectors differ from all others.
    fn data(&mut self, bytes: usize) -> Vec<u8> {
        let stamps = (0..bytes / 8).flat_map(|_| {
            self.stamp += 1;
            self.stamp.to_le_bytes()
        });
        stamps.collect()
    }

    /// Sends a command for units that no other command of the batch touches.
    fn send(&mut self, first: u64, cookie: u64) -> Sent {
        let kind = self.draw.below(12);
        let start = first as usize * UNIT;
        let (offset, bytes) = match kind {
            // Whole units, one or three.
            0..5 => (start, UNIT * [1, 1, 3][self.draw.below(3) as usize]),
            // A part of one unit, or of two.
            5..8 => {
                let from = SECTOR * self.draw.below(8) as usize;
                (start + from, SECTOR * (1 + self.draw.below(9) as usize))
            }
            8..10 => (start, UNIT * (1 + self.draw.below(3) as usize)),
            _ => (start + SECTOR, UNIT * 2),
        };
        let (command, data) = match kind {
            0..8 => (request::WRITE, self.data(bytes)),
            8..10 => (request::TRIM, vec![0; bytes]),
            _ => (request::WRITE_ZEROES, vec![0; bytes]),
        };
        let durable = command != request::TRIM && self.draw.below(8) == 0;
        let mut flags = if durable { request_flag::FUA } else { 0 };
        if command == request::WRITE_ZEROES && self.draw.below(2) == 0 {
            flags |= request_flag::NO_HOLE;
        }
        let payload: &[u8] = if command == request::WRITE { &data } else { &[] };
        let mut head = crate::requests::request_bytes(flags, command, offset as u64, bytes as u32);
        head[8..16].copy_from_slice(&cookie.to_be_bytes());
        std::io::Write::write_all(&mut self.client.stream, &[&head, payload].concat()).unwrap();
        Sent { offset, data, durable }
    }

    /// Cookie and error of the next reply.
    fn reply(&mut self) -> (u64, u32) {
        let mut head = [0; 16];
        self.client.stream.read_exact(&mut head).unwrap();
        let error = u32::from_be_bytes(head[4..8].try_into().unwrap());
        (u64::from_be_bytes(head[8..16].try_into().unwrap()), error)
    }

    fn each_unit(&mut self, sent: &Sent, mut each: impl FnMut(&mut History, usize, &[u8])) {
        let (mut at, mut left) = (sent.offset, &sent.data[..]);
        while !left.is_empty() {
            let (unit, from) = (at / UNIT, at % UNIT);
            let count = left.len().min(UNIT - from);
            each(self.units.get_mut(&(unit as u64)).unwrap(), from, &left[..count]);
            (at, left) = (at + count, &left[count..]);
        }
    }

    /// Commands side by side, on disjoint units; `cut` is called somewhere among them.
    fn batch(&mut self, cut: Option<&dyn Fn()>) {
        let count = 8;
        let cut_at = self.draw.below(count + 1);
        let mut sent = Vec::new();
        for k in 0..count {
            if let Some(cut) = cut.filter(|_| k == cut_at) {
                cut();
            }
            // Blocks of four units, of which a command touches at most three.
            let first = k * (UNITS / count) + 4 * self.draw.below(UNITS / count / 4);
            let one = self.send(first, k);
            self.each_unit(&one, |of, from, data| of.change(from, data));
            sent.push(one);
        }
        if let Some(cut) = cut.filter(|_| cut_at == count) {
            cut();
        }
        for _ in 0..count {
            let (cookie, error) = self.reply();
            let one = &sent[cookie as usize];
            match error {
                0 => {
                    let durable = one.durable;
                    let (offset, data) = (one.offset, one.data.clone());
                    let one = Sent { offset, data, durable };
                    let raises = durable && cut.is_none();
                    self.each_unit(&one, |of, _, _| {
                        of.acknowledge(durable);
                        if raises {
                            of.make_durable();
                        }
                    });
                }
                // EIO: the power was cut.
                5 => self.failed += 1,
                other => panic!("error {other}"),
            }
        }
    }

    fn flush(&mut self) {
        self.client.send(0, request::FLUSH, 0, 0, &[]);
        match self.client.receive(0) {
            Ok(_) => self.units.values_mut().for_each(History::make_durable),
            Err(5) => self.failed += 1,
            Err(other) => panic!("error {other}"),
        }
    }

    /// Reads everything after a cut.
    fn check(&mut self) {
        let all = self.client.read(0, UNITS as u32 * UNIT as u32).unwrap();
        for (unit, content) in (0..UNITS).zip(all.chunks(UNIT)) {
            self.lost += u64::from(self.units.get_mut(&unit).unwrap().survived(unit, content));
        }
    }

    /// Without a cut every unit has its newest content.
    fn check_newest(&mut self) {
        let all = self.client.read(0, UNITS as u32 * UNIT as u32).unwrap();
        for (unit, content) in (0..UNITS).zip(all.chunks(UNIT)) {
            assert!(content == self.units[&unit].newest(), "unit {unit}");
        }
    }
}

/// Cuts the power of a drive again and again under a client; returns what the client and the drive say is lost.
fn cut_again_and_again(more: &str, pace: Pace, seed: u64) -> (u64, u64) {
    let running = serving(more, pace);
    let mut verifier = Verifier::new(running.client(), seed);
    let rounds = 30;
    for _ in 0..rounds {
        for _ in 0..verifier.draw.below(6) {
            verifier.batch(None);
            if verifier.draw.below(4) == 0 {
                verifier.flush();
            }
        }
        // The one before may have ended commands, whose data no one knows before a cut.
        let cut = || assert!(running.server().drive().cut_power());
        verifier.batch(Some(&cut));
        running.server().drive().view();
        verifier.check();
        verifier.check_newest();
        // Commands beside the cut may have written after it.
        verifier.flush();
    }
    // What is durable survives a cut without other commands.
    verifier.batch(None);
    verifier.flush();
    assert!(running.server().drive().cut_power());
    running.server().drive().view();
    let lost = verifier.lost;
    verifier.check();
    assert_eq!(verifier.lost, lost, "a flushed content was lost");
    let report = running.stop().expect("the audits of the drive hold").to_json();
    let cuts = report["power_cuts"].as_array().expect("a list");
    assert!(cuts.len() > rounds as usize / 2, "{} cuts", cuts.len());
    (lost, cuts.iter().map(|cut| cut["acknowledged_units_lost"].as_u64().unwrap()).sum())
}

#[test]
fn without_protection_a_cut_takes_back_what_no_flush_covers_and_nothing_else() {
    for (more, pace, seed) in [
        ("[cache]\nprotected = false\n", Pace::Max, 1),
        ("[cache]\nprotected = false\nsize = \"256KiB\"\n", Pace::Max, 2),
        ("[cache]\nprotected = false\n[suspend]\nprogram.scheme = \"loop-boundary\"\n", Pace::REAL, 3),
        ("[cache]\nprotected = false\n[host]\nwrite-zeroes = \"write\"\n", Pace::Max, 4),
    ] {
        let (lost, of_drive) = cut_again_and_again(more, pace, seed);
        assert!(lost > 0, "{more}: nothing was lost, so nothing was shown");
        // Two contents of a unit can be equal: zeroes.
        assert!(lost <= of_drive, "{more}: the client lost {lost} units, the drive says {of_drive}");
    }
}

#[test]
fn with_protection_a_cut_takes_nothing_back() {
    for more in ["[cache]\nprotected = true\n", "[cache]\nacknowledge = \"when-programmed\"\n"] {
        assert_eq!(cut_again_and_again(more, Pace::Max, 5), (0, 0), "{more}");
    }
}

#[test]
fn a_cut_over_http_takes_back_an_unflushed_write_and_leaves_a_flushed_one() {
    let running = serving("[cache]\nprotected = false\n", Pace::Max);
    let to = running.server().web().expect("it listens");
    let mut client = running.client();
    let write = |client: &mut Client, flags, byte| {
        client.send(flags, request::WRITE, 8192, 4096, &[byte; 4096]);
        client.receive(0).unwrap();
    };
    write(&mut client, request_flag::FUA, 1);
    write(&mut client, 0, 2);
    assert_eq!(client.read(8192, 4096).unwrap(), [2; 4096]);
    let own = format!("Host: {to}\r\n");
    let with =
        |body: &str| format!("{own}Content-Type: application/json\r\nContent-Length: {}\r\n", body.len());
    for (method, fields, body, expected) in [
        ("GET", own.as_str(), "", 405),
        ("POST", own.as_str(), "", 415),
        ("POST", &with("{\"at\": 1}"), "{\"at\": 1}", 400),
        ("POST", &format!("{}Origin: http://evil.example\r\n", with("{}")), "{}", 403),
        ("POST", &with("{}").replace(&to.to_string(), "evil.example"), "{}", 421),
    ] {
        let (status, text) = ask_with(to, method, "/power-cut", fields, body);
        assert_eq!(status, expected, "{method} {fields} {text}");
    }
    assert_eq!(client.read(8192, 4096).unwrap(), [2; 4096]);
    let (status, text) = ask_with(to, "POST", "/power-cut", &with("{}"), "{}");
    assert!(status == 200 && text.contains("\"count\":1"), "{status} {text}");
    assert!(text.contains("\"acknowledged_units_lost\":1"), "{text}");
    assert_eq!(client.read(8192, 4096).unwrap(), [1; 4096]);
    assert!(ask(to, "GET", "/live.json", &own).1.contains("\"power_cuts\":{\"count\":1"));
    running.stop().expect("the audits of the drive hold");
}

#[test]
fn a_drive_without_power_loss_refuses_a_cut() {
    let config = DRIVE.split("[power-loss]").next().unwrap();
    let running = Running::with(|folder, lines| {
        let drive = Setup { options: Options::new(config), ..parts(folder, lines).drive };
        let web = Some(WebAt { address: "127.0.0.1:0".into(), token: None });
        Server::start(Parts { drive, web, ..parts(folder, lines) }).unwrap()
    });
    let to = running.server().web().expect("it listens");
    let fields = format!("Host: {to}\r\nContent-Type: application/json\r\nContent-Length: 2\r\n");
    let (status, text) = ask_with(to, "POST", "/power-cut", &fields, "{}");
    assert!(status == 409 && text.contains("[power-loss]"), "{status} {text}");
}

#[test]
fn data_that_the_drive_has_not_taken_are_bounded() {
    // A drive in real time whose power is off takes nothing for an hour.
    let config = format!("{DRIVE}[cache]\nprotected = false\n").replace("1ms", "1h").replace("100d", "10d");
    let running = Running::with(move |folder, lines| {
        let drive = Setup { options: Options::new(config), pace: Pace::REAL, ..parts(folder, lines).drive };
        Server::start(Parts { drive, ..parts(folder, lines) }).unwrap()
    });
    let mut client = running.client();
    client.write(0, &[1; 4096]).unwrap();
    running.server().drive().cut_power();
    let mut sender = Client { stream: client.stream.try_clone().unwrap() };
    sender.stream.set_write_timeout(Some(Duration::from_millis(200))).unwrap();
    let data = vec![7; 1 << 20];
    let mut sent = 0;
    let head = crate::requests::request_bytes(0, request::WRITE, 0, 1 << 20);
    let whole = [&head[..], &data].concat();
    let mut left = &whole[..];
    // The last write may be sent in part.
    while let Ok(count) = std::io::Write::write(&mut sender.stream, left) {
        left = &left[count..];
        if left.is_empty() {
            (sent, left) = (sent + 1, &whole[..]);
        }
        assert!(sent <= 80, "the server must stop reading");
    }
    assert!(sent >= 60, "{sent}");
    running.stop().expect("the audits of the drive hold");
}
