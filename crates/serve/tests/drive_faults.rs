//! Do faults of the simulated drive reach the clients of a served one, and does its state outlive a kill?

use crate::drive_session::Draw;
use crate::drive_thread::{setup, start};
use interpulse_embed::{Device, Error, Options, show_state};
use interpulse_serve::command::{Command, Done, Kind, Outcome};
use interpulse_serve::drive::clock::Pace;
use interpulse_serve::drive::simulated_drive::{Setup, SimulatedDrive};
use interpulse_serve::drive::state_saver::StateFile;
use std::collections::BTreeMap;
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

const DRIVE: &str = "drive = \"a4-mini\"\npart.blocks-per-plane = 24\n";
const LOSS: &str = "[power-loss]\nat = \"100d\"\noff-for = \"5ms\"\n";

fn command(kind: Kind, cookie: u64, page: u64) -> Command {
    Command { connection: 1, cookie, kind, offset: 4096 * page, length: 4096 }
}

/// Submits commands of one kind to pages and waits for their outcomes.
fn outcomes(
    drive: &SimulatedDrive,
    done: &Receiver<Done>,
    kind: Kind,
    pages: impl Iterator<Item = u64>,
) -> Vec<Outcome> {
    let commands: Vec<Command> = (0..).zip(pages).map(|(cookie, page)| command(kind, cookie, page)).collect();
    drive.submit(&commands).expect("it takes them");
    let ended = commands.iter().map(|_| done.recv().expect("a completion"));
    let by_cookie: BTreeMap<u64, Outcome> = ended.map(|of| (of.cookie, of.outcome)).collect();
    by_cookie.into_values().collect()
}

fn count(of: &[Outcome], outcome: Outcome) -> usize {
    of.iter().filter(|&&of| of == outcome).count()
}

const WRITE: Kind = Kind::Write { fua: false };

#[test]
fn uncorrectable_data_are_read_with_an_error_until_they_are_written_again() {
    let fault = "[[fault]]\nkind = \"uncorrectable-read\"\naddress = \"40KiB\"\nafter = 1\n";
    let (drive, done) = start(setup(&format!("{DRIVE}{fault}"), Pace::Max, 100));
    let read = |pages| outcomes(&drive, &done, Kind::Read, pages);
    assert_eq!(count(&read(0..1), Outcome::Success), 1);
    let all = read(0..20);
    assert_eq!((count(&all, Outcome::IoError), all[10]), (1, Outcome::IoError), "{all:?}");
    assert_eq!(read(10..11), [Outcome::IoError]);
    outcomes(&drive, &done, WRITE, 10..11);
    assert_eq!(read(10..11), [Outcome::Success]);
    let report = drive.finish().expect("the device works");
    let json = report.to_json();
    assert_eq!(
        (&json["smart"]["reads_of_lost_data"], &json["smart"]["lost_bytes"]),
        (&2.into(), &4096.into())
    );
    assert_eq!(json["operations"]["read"]["errors"], 2);
    let text = report.to_text();
    assert!(
        text.contains("reads of lost data: 2") && text.contains("2 of them ended with an error"),
        "{text}"
    );
}

#[test]
fn a_failed_die_loses_its_data_and_the_drive_goes_on() {
    let more = "[ftl]\nover-provisioning = \"60%\"\n[[fault]]\nkind = \"die-failure\"\ndie = 3\nafter = 1\n";
    let (drive, done) = start(setup(&format!("{DRIVE}{more}"), Pace::Max, 1000));
    outcomes(&drive, &done, Kind::Read, 0..1);
    let all = outcomes(&drive, &done, Kind::Read, (0..800).map(|page| 37 * page));
    let failed = count(&all, Outcome::IoError);
    // One of eight dies.
    assert!((50..150).contains(&failed), "{failed}");
    assert_eq!(count(&outcomes(&drive, &done, WRITE, (0..800).map(|page| 37 * page)), Outcome::Success), 800);
    let all = outcomes(&drive, &done, Kind::Read, (0..800).map(|page| 37 * page));
    assert_eq!(count(&all, Outcome::Success), 800);
    let report = drive.finish().expect("the device works").to_json();
    assert_eq!((&report["smart"]["failed_dies"], &report["smart"]["read_only"]), (&1.into(), &false.into()));
}

#[test]
fn a_drive_at_its_end_refuses_writes_and_serves_reads() {
    // So many erases fail that the reserve is used up soon.
    let more = "[ftl]\nbad-block-reserve = \"5%\"\n[faults]\nerase-failure = 0.1\n";
    let config = format!("{DRIVE}{more}[precondition]\nfill = \"100%\"\n");
    let (drive, done) = start(setup(&config, Pace::Max, 1000));
    let pages = drive.capacity() / 4096;
    let (mut draw, mut refused) = (Draw(3), 0);
    for _ in 0..400 {
        let all = outcomes(&drive, &done, WRITE, (0..500).map(|_| draw.below(pages)));
        refused += count(&all, Outcome::NotPermitted);
        if refused > 0 {
            break;
        }
    }
    assert!(refused > 0, "it is never at its end");
    assert_eq!(outcomes(&drive, &done, WRITE, 0..3), [Outcome::NotPermitted; 3]);
    assert_eq!(outcomes(&drive, &done, Kind::Trim, 0..1), [Outcome::NotPermitted]);
    assert_eq!(outcomes(&drive, &done, Kind::Read, 0..3), [Outcome::Success; 3]);
    let report = drive.finish().expect("the device works").to_json();
    assert_eq!(report["smart"]["read_only"], true);
    assert_eq!(report["smart"]["refused_requests"], refused + 4);
}

#[test]
fn a_stall_delays_commands() {
    let fault = "[[fault]]\nkind = \"stall\"\nduration = \"20ms\"\nafter = 10\n";
    let (drive, done) = start(setup(&format!("{DRIVE}{fault}"), Pace::Max, 100));
    assert_eq!(count(&outcomes(&drive, &done, Kind::Read, 0..40), Outcome::Success), 40);
    let report = drive.finish().expect("the device works");
    let longest = report.view.all.max_ns;
    assert!((20_000_000..25_000_000).contains(&longest), "{longest}");
    assert_eq!(report.to_json()["smart"]["stalls"], 1);
}

#[test]
fn power_is_cut_again_and_again_and_nothing_acknowledged_is_lost() {
    for (config, pace) in [
        (format!("{DRIVE}{LOSS}[precondition]\nfill = \"60%\"\n"), Pace::Max),
        (format!("{DRIVE}{LOSS}[cache]\nacknowledge = \"when-programmed\"\n"), Pace::Max),
        (format!("{DRIVE}{LOSS}[suspend]\nprogram.scheme = \"loop-boundary\"\n"), Pace::REAL),
    ] {
        let (drive, done) = start(setup(&config, pace, 1000));
        let (mut draw, mut failed) = (Draw(11), 0);
        for round in 0..12 {
            let kinds = [WRITE, Kind::Read, Kind::Flush, Kind::Trim];
            let commands: Vec<Command> = (0..300)
                .map(|cookie| match kinds[[0, 0, 0, 1, 1, 2, 3][draw.below(7) as usize]] {
                    Kind::Flush => Command { offset: 0, length: 0, ..command(Kind::Flush, cookie, 0) },
                    kind => command(kind, cookie, draw.below(5_000)),
                })
                .collect();
            drive.submit(&commands).expect("it takes them");
            assert!(drive.cut_power());
            if round % 3 == 0 {
                // While it is off or recovers: ignored.
                assert!(drive.cut_power());
            }
            let ended = (0..300).map(|_| done.recv().expect("a completion").outcome);
            failed += ended.filter(|&outcome| outcome != Outcome::Success).count();
        }
        // The last cut may still wait for the thread of the drive, which makes views after cuts. Then everything is served.
        drive.view();
        assert_eq!(count(&outcomes(&drive, &done, Kind::Read, 0..50), Outcome::Success), 50);
        // The audits of the device hold: it follows what was acknowledged.
        let report = drive.finish().expect("the device works");
        let cuts = report.to_json()["power_cuts"].clone();
        let cuts = cuts.as_array().expect("a list");
        assert!(cuts.len() >= 3 && failed > 0, "{} cuts, {failed} commands failed", cuts.len());
        for cut in cuts {
            assert_eq!(cut["acknowledged_units_lost"], 0);
            let out = cut["served_ns"].as_u64().expect("it was served again")
                - cut["at_ns"].as_u64().expect("a time");
            assert!(out > 5_000_000, "{out}");
        }
        assert!(report.to_text().contains("requests in flight, and served again after"));
    }
}

#[test]
fn what_does_not_go_with_power_cuts_is_refused() {
    let refused = |more: &str| {
        let started = SimulatedDrive::start(setup(&format!("{DRIVE}{more}"), Pace::Max, 1), |_| ());
        started.err().expect("it is refused").to_string()
    };
    // Its owner does not take data back.
    let why = refused(&format!("{LOSS}[cache]\nprotected = false\n"));
    assert!(why.contains("cache.protected = false") && why.contains("legal: true"), "{why}");
    let array = "[array]\nlevel = \"raid5\"\ndrives = 4\n";
    let why = refused(&format!("{array}{LOSS}[cache]\nprotected = false\n"));
    assert!(why.contains("the drives of an array keep their caches"), "{why}");
    let (drive, _done) = start(setup(DRIVE, Pace::Max, 1));
    assert!(!drive.cut_power());
    drive.finish().expect("the device works");
    for (more, key) in [(array, "array: "), ("[[fault]]\nkind = \"erase-failure\"\nafter = 9\n", "fault")] {
        let state = Some(StateFile { path: "unused".into(), every: None });
        let with_state = Setup { state, ..setup(&format!("{DRIVE}{more}"), Pace::Max, 1) };
        let Err(Error::State(why)) = SimulatedDrive::start(with_state, |_| ()) else { panic!("accepted") };
        assert!(why.contains(key) && why.contains("--no-state"), "{why}");
    }
}

#[test]
fn the_state_of_an_idle_drive_is_saved_while_it_is_served() {
    let config = format!("{DRIVE}[precondition]\nfill = \"0%\"\n");
    for pace in [Pace::Max, Pace::REAL] {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("drive.state");
        let state = Some(StateFile { path: path.clone(), every: Some(Duration::from_millis(20)) });
        let (drive, done) = start(Setup { state, ..setup(&config, pace, 1000) });
        let mut saved = Vec::new();
        for round in 1..=3 {
            let pages = (700 * round)..(700 * round + 700);
            assert_eq!(count(&outcomes(&drive, &done, WRITE, pages), Outcome::Success), 700);
            let began = Instant::now();
            while saved.len() < round as usize {
                assert!(began.elapsed() < Duration::from_secs(60), "no state of round {round}");
                std::thread::sleep(Duration::from_millis(5));
                let Ok(text) = show_state(&path) else { continue };
                let mapped =
                    serde_json::from_str::<serde_json::Value>(&text).expect("JSON")["mapped_bytes"].as_u64();
                if saved.last() != Some(&mapped) {
                    saved.push(mapped);
                }
            }
        }
        assert!(saved.is_sorted(), "{saved:?}");
        // As after a kill: another device takes up what is there while the first one still runs.
        let kept = std::fs::read(&path).expect("a state");
        let mut other =
            Device::create_from_state(&Options::new(config.as_str()), &path).expect("the state is whole");
        other.finish().expect("the audit holds");
        drive.finish().expect("the device works");
        assert!(std::fs::read(&path).expect("a state").len() >= kept.len() - 64);
        assert_eq!(
            std::fs::read_dir(folder.path()).expect("a folder").count(),
            1,
            "no temporary file is left"
        );
    }
}
