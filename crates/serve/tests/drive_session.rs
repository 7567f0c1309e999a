//! Session of a fake client and a pacer in fake wall time, and the replay of its record in a run.

use interpulse_embed::{Device, Duration, Op, Options, SimTime};
use interpulse_engine::LatencyHistogram;
use interpulse_host::{Ended, FreeRunning, Host, Observer, Stepper};
use interpulse_serve::command::{Command, Kind, Outcome};
use interpulse_serve::drive::class::Class;
use interpulse_serve::drive::clock::{Pace, WallTime};
use interpulse_serve::drive::pacer::{Arrived, Pacer, Wake};
use interpulse_serve::drive::record::{Recorded, Recorder};
use interpulse_study::config::{Case, PlanRequest, read_cases};
use interpulse_study::{case, initial_state::precondition::precondition};
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::{Arc, Mutex};

/// A small drive, half filled.
pub const DRIVE: &str = "drive = \"a4-mini\"\npart.blocks-per-plane = 24\n[precondition]\nfill = \"60%\"\n";
/// A small array.
pub const ARRAY: &str =
    "drive = \"a4-mini\"\npart.blocks-per-plane = 24\n[array]\nlevel = \"raid5\"\ndrives = 4\n";

/// Random numbers of the tests (splitmix64).
pub struct Draw(pub u64);

impl Draw {
    /// A number below `n`.
    pub fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % n
    }
}

/// Memory that a record is written to.
#[derive(Clone, Default)]
pub struct Shared(pub Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("no panic").extend_from_slice(data);
        Ok(data.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Shared {
    /// What was written.
    pub fn text(&self) -> String {
        String::from_utf8(self.0.lock().expect("no panic").clone()).expect("a record is text")
    }
}

/// What a client does.
#[derive(Clone, Copy)]
pub struct Load {
    /// Commands.
    pub count: u64,
    /// Commands outstanding at once.
    pub depth: u64,
    /// Longest wall time between the instant at which the system should wake a thread and that at which it does.
    pub lateness: u64,
    /// Seed of commands, lateness and think times.
    pub seed: u64,
}

/// What the client and the pacer have seen.
pub struct Session {
    /// Commands with the wall time from submission to delivery and their slip, in the order of delivery.
    pub client: Vec<(Command, u64, u64)>,
    pub pacer: Pacer,
    pub record: String,
}

pub fn pacer(config: &str, pace: Pace, record: Shared) -> Pacer {
    let device = Device::create(&Options::new(config)).unwrap_or_else(|error| panic!("{error}"));
    Pacer::new(device, config == ARRAY, pace, Some(Recorder::new(Box::new(record))))
}

fn command(draw: &mut Draw, cookie: u64, capacity: u64, trims: bool) -> Command {
    let kind = match draw.below(24) {
        0 => Kind::Flush,
        1 if trims => Kind::Trim,
        2 | 3 => Kind::Write { fua: true },
        4..=10 => Kind::Write { fua: false },
        _ => Kind::Read,
    };
    let length = 4096 * (1 + draw.below(8)) as u32;
    let offset = 4096 * draw.below((capacity - u64::from(length)) / 4096);
    Command { connection: cookie % 3, cookie, kind, offset, length }
}

/// Runs a closed loop of a client with `load` against a pacer, all in fake wall time.
pub fn run(config: &str, pace: Pace, load: Load) -> Session {
    let record = Shared::default();
    let mut pacer = pacer(config, pace, record.clone());
    let (capacity, mut draw) = (pacer.device.capacity(1).expect("a namespace"), Draw(load.seed));
    let (mut client, mut sent, mut due) = (Vec::new(), BTreeMap::new(), Vec::new());
    // Commands to come by wall instant and number.
    let mut coming: BTreeMap<(u64, u64), Command> = BTreeMap::new();
    let mut number = 0;
    while number < load.depth.min(load.count) {
        let of = command(&mut draw, number, capacity, config != ARRAY);
        coming.insert((5_000 + draw.below(90_000), number), of);
        number += 1;
    }
    let mut now = 0;
    while (client.len() as u64) < load.count {
        let (mut arrived, later) = (Vec::new(), coming.split_off(&(now + 1, 0)));
        for ((at, _), command) in std::mem::replace(&mut coming, later) {
            sent.insert(command.cookie, (at, command));
            arrived.push(Arrived { at: WallTime(at), command });
        }
        pacer.step(WallTime(now), &arrived, &mut due).expect("the device works");
        for of in due.drain(..) {
            let (at, done) = (now + draw.below(load.lateness / 4 + 1), of.done);
            assert_eq!(done.outcome, Outcome::Success);
            let of_due = of.at.map_or(0, |due| at - due.0);
            if let Some(due) = of.at {
                assert!(due.0 <= now, "a completion before its instant");
                pacer.statistics.delivered(due, WallTime(at));
            }
            let (sent_at, of) = sent[&done.cookie];
            client.push((of, at - sent_at, of_due));
            if number < load.count {
                let next = command(&mut draw, number, capacity, config != ARRAY);
                coming.insert((at + 1 + draw.below(40_000), number), next);
                number += 1;
            }
        }
        let wake = match pacer.wake(WallTime(now)) {
            Wake::Now => Some(now),
            Wake::At(at) => Some(at.0 + draw.below(load.lateness + 1)),
            Wake::Command => None,
        };
        let next = coming.first_key_value().map(|(&(at, _), _)| at);
        now = match (wake, next) {
            (Some(wake), Some(next)) => wake.min(next).max(now),
            (wake, next) => wake.or(next).unwrap_or(now).max(now),
        };
    }
    if let Some(recorder) = &mut pacer.recorder {
        assert_eq!(recorder.end(), Recorded { rows: load.count, notes: Vec::new() });
    }
    Session { client, pacer, record: record.text() }
}

/// Completions of a replay.
#[derive(Default)]
struct Completions(Vec<(SimTime, Op, Duration)>);

impl Observer for Completions {
    fn request_ended(&mut self, ended: &Ended) {
        self.0.push((ended.of.submitted, ended.of.op, ended.latency));
    }
}

/// Latencies of each class of commands in a replay of `record` by a run of `config`.
pub fn replay(config: &str, record: &str, name: &str) -> Vec<LatencyHistogram> {
    let path = std::env::temp_dir().join(format!("interpulse-serve-{}-{name}.trace", std::process::id()));
    std::fs::write(&path, record).expect("there is room for a record");
    let text = format!("{config}\n[[flow]]\ntrace = \"{}\"\n", path.display());
    let request = PlanRequest { text, path: "x".into(), ..PlanRequest::default() };
    let of = read_cases(&request).unwrap_or_else(|error| panic!("{error}")).remove(0);
    let state = precondition(&of.drive, &of.precondition, &mut |_, _| true).expect("not stopped").0;
    let completions = match of.array {
        None => complete(case::device_of_one(&of, &of.flows, state), &of),
        Some(_) => complete(case::device_of_several(&of, &of.flows, state), &of),
    };
    std::fs::remove_file(&path).expect("the record is still there");
    by_class(record, completions)
}

fn complete<D: interpulse_engine::Device>(device: D, of: &Case) -> Vec<(SimTime, Op, Duration)> {
    let host = Host::new(device, &of.flows, of.seed, Completions::default()).expect("the record is legal");
    let mut stepper = Stepper::new(host, FreeRunning);
    stepper.open().expect("it starts");
    stepper.run(stepper.events.horizon(), u64::MAX, &mut |_| true).expect("no failure");
    stepper.close().expect("all requests complete");
    stepper.host.observer.0
}

/// Joins the requests of a replay to commands: a write with FUA is a write and the flush that begins with its end.
fn by_class(record: &str, mut completions: Vec<(SimTime, Op, Duration)>) -> Vec<LatencyHistogram> {
    let mut classes = vec![LatencyHistogram::new(); Class::COUNT];
    let mut take = |at: SimTime, op: Op| {
        let place = completions.iter().position(|&(submitted, of, _)| (submitted, of) == (at, op));
        let place = place.unwrap_or_else(|| panic!("the replay has no {op:?} at {at}"));
        completions.remove(place).2
    };
    for row in record.lines() {
        let columns: Vec<&str> = row.split_ascii_whitespace().collect();
        let at = SimTime(columns[3].replace('.', "").parse().expect("a time in ns"));
        let (class, op) = match columns[6] {
            "R" => (Class::Read, Op::Read),
            "W" => (Class::Write, Op::Write),
            "WF" => (Class::WriteFua, Op::Write),
            "FN" => (Class::Flush, Op::Flush),
            _ => (Class::Trim, Op::Trim),
        };
        let mut latency = take(at, op);
        if class == Class::WriteFua {
            latency = latency + take(at + latency, Op::Flush);
        }
        classes[class as usize].record(latency);
    }
    assert!(completions.is_empty(), "the replay has {} requests more", completions.len());
    classes
}
