//! Does the thread of a simulated drive complete every command once, within its bounds, and report what it did?

use crate::drive_session::{ARRAY, DRIVE, Draw, Shared};
use interpulse_embed::{Error, Options};
use interpulse_serve::command::{Command, Done, Kind, Outcome};
use interpulse_serve::drive::class::Class;
use interpulse_serve::drive::clock::Pace;
use interpulse_serve::drive::metrics::prometheus;
use interpulse_serve::drive::simulated_drive::{Setup, SimulatedDrive};
use interpulse_serve::drive::state_saver::StateFile;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::mpsc::{Receiver, channel};

pub fn setup(config: &str, pace: Pace, limit: usize) -> Setup {
    Setup { options: Options::new(config), pace, limit, record: None, state: None }
}

/// A drive whose completions arrive at a channel.
pub fn start(setup: Setup) -> (SimulatedDrive, Receiver<Done>) {
    let (to, from) = channel();
    let deliver = move |done: &[Done]| done.iter().for_each(|&done| to.send(done).expect("the test waits"));
    (SimulatedDrive::start(setup, deliver).unwrap_or_else(|error| panic!("{error}")), from)
}

fn read(cookie: u64, offset: u64, length: u32) -> Command {
    Command { connection: 7, cookie, kind: Kind::Read, offset, length }
}

#[test]
fn every_command_completes_once_at_every_pace_with_more_commands_than_room() {
    for pace in [Pace::Max, Pace::REAL] {
        let record = Shared::default();
        let (drive, done) = start(Setup { record: Some(Box::new(record.clone())), ..setup(DRIVE, pace, 5) });
        let mut draw = Draw(1);
        let commands: Vec<Command> = (0..200)
            .map(|cookie| {
                let kind = [
                    Kind::Read,
                    Kind::Write { fua: false },
                    Kind::Write { fua: true },
                    Kind::Flush,
                    Kind::Trim,
                ][draw.below(5) as usize];
                Command { kind, ..read(cookie, 4096 * draw.below(100), 8192) }
            })
            .collect();
        std::thread::scope(|scope| {
            for part in commands.chunks(100) {
                let drive = &drive;
                scope.spawn(move || part.chunks(7).for_each(|few| drive.submit(few).expect("it takes them")));
            }
        });
        let report = drive.finish().expect("the device works");
        let all: Vec<Done> = done.try_iter().collect();
        assert!(all.iter().all(|done| done.connection == 7 && done.outcome == Outcome::Success));
        assert_eq!(all.iter().map(|done| done.cookie).collect::<BTreeSet<_>>(), (0..200).collect());
        assert_eq!((all.len(), report.recorded, record.text().lines().count()), (200, Some(200), 200));
        assert!(report.view.most_outstanding <= 5, "{}", report.view.most_outstanding);
        for of in &report.view.classes {
            let count = commands.iter().filter(|command| Class::of(command.kind) == of.class).count() as u64;
            assert_eq!((of.commands, of.latency.count, of.errors), (count, count, 0), "{:?}", of.class);
        }
        let timed = report.view.slip.map(|slip| slip.count);
        assert_eq!(timed.is_some(), pace == Pace::REAL);
        assert!(drive.submit(&[read(0, 0, 512)]).is_err());
        assert!(matches!(drive.finish(), Err(Error::Finished)));
    }
}

#[test]
fn commands_that_the_device_cannot_execute_complete_with_an_error() {
    let (drive, done) = start(setup(ARRAY, Pace::Max, 100));
    let capacity = drive.capacity();
    assert!(!drive.can_trim());
    let zeroes = |cookie| Command { kind: Kind::WriteZeroes { fua: true }, ..read(cookie, 0, 8192) };
    let trim = Command { kind: Kind::Trim, ..read(1, 0, 4096) };
    drive
        .submit(&[
            zeroes(0),
            trim,
            read(2, capacity, 512),
            read(3, capacity - 512, 512),
            read(4, capacity - 512, 1024),
            read(5, 1, 512),
            read(6, 0, 100),
            read(7, 0, 0),
            read(8, u64::MAX - 511, 512),
        ])
        .expect("it takes them");
    let report = drive.finish().expect("the device works");
    let outcomes: BTreeMap<u64, Outcome> = done.try_iter().map(|done| (done.cookie, done.outcome)).collect();
    let legal: Vec<u64> =
        outcomes.iter().filter(|(_, of)| **of == Outcome::Success).map(|(&cookie, _)| cookie).collect();
    assert_eq!((outcomes.len(), legal), (9, vec![0, 3]));
    assert!(outcomes.values().all(|of| [Outcome::Success, Outcome::InvalidArgument].contains(of)));
    assert_eq!(report.view.all.count, 2);
}

#[test]
fn zeros_longer_than_a_request_of_the_device_are_one_command() {
    let (drive, done) = start(setup("drive = \"a4\"\npart.blocks-per-plane = 100\n", Pace::Max, 10));
    assert!(drive.capacity() > 4 << 30, "{}", drive.capacity());
    let length = u32::MAX - 511;
    let zeroes = Command { kind: Kind::WriteZeroes { fua: false }, ..read(1, 4096, length) };
    drive.submit(&[zeroes, Command { kind: Kind::Trim, ..read(2, 4096, length) }]).expect("it takes them");
    let report = drive.finish().expect("the device works");
    assert_eq!(done.try_iter().filter(|done| done.outcome == Outcome::Success).count(), 2);
    let of = report.class(Class::WriteZeroes);
    assert_eq!((of.commands, of.bytes), (1, u64::from(length)));
}

#[test]
fn a_zoned_drive_is_no_block_device() {
    let zoned = "drive = \"a4-mini\"\npart.blocks-per-plane = 24\n[ftl]\nfamily = \"zoned\"\nover-provisioning = \"7%\"\n\
                 zone-width = 1\nzone-rows = 4\n";
    let refused = SimulatedDrive::start(setup(zoned, Pace::Max, 1), |_| ());
    let Err(Error::Config(why)) = refused else { panic!("a zoned drive was accepted") };
    assert!(why.contains("zoned") && why.contains("legal"), "{why}");
}

#[test]
fn commands_outstanding_when_power_is_lost_end_with_an_error_and_later_ones_wait_for_it() {
    let config =
        "drive = \"a4-mini\"\npart.blocks-per-plane = 24\n[power-loss]\nat = \"60us\"\noff-for = \"5ms\"\n";
    let (drive, done) = start(setup(config, Pace::Max, 100));
    let mut outcomes = Vec::new();
    for cookie in 0..3 {
        // A read takes longer than the 60 us after which power is lost.
        drive.submit(&[read(cookie, 0, 4096)]).expect("it takes them");
        outcomes.push(done.recv().expect("a completion").outcome);
    }
    assert_eq!(outcomes, [Outcome::IoError, Outcome::Success, Outcome::Success]);
    let report = drive.finish().expect("the device works");
    let of = report.class(Class::Read);
    assert_eq!((of.commands, of.errors, of.bytes), (2, 1, 8192));
    assert!(of.latency.max_ns > 5_000_000, "{}", of.latency.max_ns);
}

#[test]
fn a_drive_takes_its_state_up_again() {
    let path = std::env::temp_dir().join(format!("interpulse-serve-state-{}", std::process::id()));
    let with_state = |config| Setup {
        state: Some(StateFile { path: path.clone(), every: None }),
        ..setup(config, Pace::Max, 1000)
    };
    let pages = |drive: &SimulatedDrive| drive.capacity() / 4096;
    let mut mapped = Vec::new();
    for (session, kind) in [Kind::Write { fua: false }, Kind::Read, Kind::Trim].into_iter().enumerate() {
        let (drive, done) = start(with_state("drive = \"a4-mini\"\npart.blocks-per-plane = 24\n"));
        let begin = pages(&drive) / 2;
        let commands: Vec<Command> =
            (0..700).map(|k| Command { kind, ..read(k, 4096 * (begin + k), 4096) }).collect();
        drive.submit(&commands).expect("it takes them");
        let report = drive.finish().expect("the device works");
        assert_eq!(done.try_iter().filter(|done| done.outcome == Outcome::Success).count(), 700);
        let flash_reads = report.view.counters.nand.host_reads;
        assert_eq!(flash_reads > 0, session == 1, "{flash_reads} reads of flash in session {session}");
        mapped.push(report.audit.mapped_units);
    }
    // Data in the cache at the end of the first session is on flash in the second.
    assert!(mapped[0] < mapped[1] && mapped[2] == mapped[1] - 700, "{mapped:?}");
    let other = "drive = \"a4-mini\"\npart.blocks-per-plane = 48\n";
    let other = SimulatedDrive::start(with_state(other), |_| ());
    let Err(Error::State(why)) = other else { panic!("the state of another drive was accepted") };
    assert!(why.contains("part.blocks-per-plane is 24 in the state and 48"), "{why}");
    std::fs::remove_file(&path).expect("the state");
    assert!(matches!(SimulatedDrive::start(with_state(ARRAY), |_| ()), Err(Error::State(_))));
}

/// Samples of a metrics page: name with labels, value. Checks the format.
fn samples(page: &str) -> BTreeMap<String, f64> {
    let (mut kinds, mut samples) = (BTreeMap::new(), BTreeMap::new());
    for line in page.lines() {
        if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, kind) = rest.split_once(' ').expect("a name and its type");
            assert!(kinds.insert(name.to_string(), kind.to_string()).is_none(), "{name} twice");
        } else if !line.starts_with("# HELP ") {
            let (name, value) = line.rsplit_once(' ').expect("a sample and its value");
            let plain = name.split('{').next().expect("a name");
            assert!(
                plain.bytes().all(|c| c == b'_' || c.is_ascii_lowercase() || c.is_ascii_digit()),
                "{plain}"
            );
            let base = ["_sum", "_count"].iter().find_map(|end| plain.strip_suffix(end)).unwrap_or(plain);
            let kind = kinds
                .get(plain)
                .or_else(|| kinds.get(base))
                .unwrap_or_else(|| panic!("{plain} without a type"));
            assert_eq!(kind == "counter", plain.ends_with("_total"), "{plain}");
            let value: f64 = value.parse().unwrap_or_else(|_| panic!("{line}"));
            assert!(samples.insert(name.to_string(), value).is_none(), "{name} twice");
        }
    }
    samples
}

#[test]
fn metrics_follow_the_conventions_and_show_the_figures_of_the_report() {
    let (drive, done) = start(setup(DRIVE, Pace::Dilated(2), 64));
    let commands: Vec<Command> = (0..50).map(|cookie| read(cookie, 4096 * cookie, 4096)).collect();
    drive.submit(&commands).expect("it takes them");
    (0..50).for_each(|_| assert!(done.recv().is_ok()));
    let first = samples(&prometheus(&drive.view().expect("a view")));
    assert_eq!(first["interpulse_commands_total{op=\"read\"}"], 50.0);
    let report = drive.finish().expect("the device works");
    let page = prometheus(&drive.view().expect("a view"));
    let samples = samples(&page);
    let of = report.class(Class::Read);
    assert_eq!(samples["interpulse_commands_total{op=\"read\"}"], of.commands as f64);
    assert_eq!(samples["interpulse_command_bytes_total{op=\"read\"}"], 50.0 * 4096.0);
    assert_eq!(
        samples["interpulse_command_latency_seconds_sum{op=\"read\"}"],
        of.latency.sum_ns as f64 / 1e9
    );
    assert_eq!(samples["interpulse_slip_seconds_count"], 50.0);
    assert_eq!(samples["interpulse_dilation"], 2.0);
    assert_eq!(samples["interpulse_nand_host_reads_total"], report.view.counters.nand.host_reads as f64);
    let json = report.to_json();
    assert_eq!(json["operations"]["read"]["commands"], 50);
    assert_eq!(json["slip"]["wall_ns"]["count"], 50);
    assert_eq!(
        json["slip"]["drive_ns"]["p50"].as_f64(),
        json["slip"]["wall_ns"]["p50"].as_f64().map(|ns| ns / 2.0)
    );
    assert!(report.to_text().contains("2 times slower than life"), "{}", report.to_text());
}
