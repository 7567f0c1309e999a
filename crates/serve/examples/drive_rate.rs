//! Rate, slip and latencies that a client sees of a simulated drive without a server:
//! `drive_rate PACE DEPTH COMMANDS read|write [RECORD]`.

use interpulse_embed::{Duration, Options};
use interpulse_engine::LatencyHistogram;
use interpulse_serve::command::{Command, Done, Kind};
use interpulse_serve::drive::clock::Pace;
use interpulse_serve::drive::simulated_drive::{Setup, SimulatedDrive};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::sync::mpsc::channel;
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().collect();
    let [_, pace, depth, count, kind, record @ ..] = &args[..] else {
        return Err("usage: PACE DEPTH COMMANDS read|write [RECORD]".into());
    };
    let (pace, depth, count): (Pace, u64, u64) = (pace.parse()?, depth.parse()?, count.parse()?);
    let kind = if kind == "read" { Kind::Read } else { Kind::Write { fua: false } };
    let options = Options::new("drive = \"a4-mini\"\n[precondition]\nfill = \"100%\"\n");
    let record = record.first().map(|path| File::create(path).map(BufWriter::new)).transpose()?;
    let record = record.map(|file| Box::new(file) as Box<dyn Write + Send>);
    let (to, from) = channel::<Vec<Done>>();
    let deliver = move |done: &[Done]| drop(to.send(done.to_vec()));
    let drive = SimulatedDrive::start(Setup { options, pace, limit: 4096, record, state: None }, deliver)?;
    let pages = drive.capacity() / 4096;
    let command = |k: u64| {
        let page = k.wrapping_mul(0x9e37_79b9_7f4a_7c15) % pages;
        Command { connection: 0, cookie: k, kind, offset: 4096 * page, length: 4096 }
    };
    let (begun, mut next, mut done): (_, u64, u64) = (Instant::now(), 0, 0);
    let (mut sent, mut seen, mut more) = (Vec::new(), LatencyHistogram::new(), Vec::new());
    while done < count {
        more.extend((next..count.min(done + depth)).map(command));
        next += more.len() as u64;
        sent.resize(next as usize, begun.elapsed());
        drive.submit(&more).map_err(|_| "the drive has ended")?;
        more.clear();
        for finished in std::iter::once(from.recv()?).chain(from.try_iter()).flatten() {
            seen.record(Duration((begun.elapsed() - sent[finished.cookie as usize]).as_nanos() as u64));
            done += 1;
        }
    }
    println!("{:.0} commands/s", count as f64 / begun.elapsed().as_secs_f64());
    let report = drive.finish()?;
    print!("{}", report.to_text());
    if let Some(dilation) = pace.dilation() {
        for (share, name) in [(0.5, "p50"), (0.99, "p99"), (0.999, "p99.9")] {
            let of_client = seen.percentile(share).map_or(0.0, Duration::as_us_f64) / f64::from(dilation);
            let simulated = report.view.all.percentile_ns(name) as f64 / 1e3;
            let more = 100.0 * (of_client / simulated - 1.0);
            println!("client over the dilation: {name} {of_client:.1} us, {more:+.1} % of the simulation");
        }
    }
    Ok(())
}
