//! Rate and slip of a simulated drive without a server: `drive_rate PACE DEPTH COMMANDS read|write [RECORD]`.

use interpulse_embed::Options;
use interpulse_serve::command::{Command, Done, Kind};
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
    let (depth, count): (u64, u64) = (depth.parse()?, count.parse()?);
    let kind = if kind == "read" { Kind::Read } else { Kind::Write { fua: false } };
    let options = Options::new("drive = \"a4-mini\"\n[precondition]\nfill = \"100%\"\n");
    let record = record.first().map(|path| File::create(path).map(BufWriter::new)).transpose()?;
    let record = record.map(|file| Box::new(file) as Box<dyn Write + Send>);
    let (to, from) = channel::<Vec<Done>>();
    let deliver = move |done: &[Done]| drop(to.send(done.to_vec()));
    let drive = SimulatedDrive::start(
        Setup { options, pace: pace.parse()?, limit: 4096, record, state: None },
        deliver,
    )?;
    let pages = drive.capacity() / 4096;
    let command = |k: u64| {
        let offset = 4096 * (k.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20) % (pages * 4096);
        Command { connection: 0, cookie: k, kind, offset: offset / 4096 * 4096, length: 4096 }
    };
    let (begun, mut next, mut done) = (Instant::now(), depth.min(count), 0);
    drive.submit(&(0..next).map(command).collect::<Vec<_>>()).map_err(|_| "closed")?;
    let mut more = Vec::new();
    while done < count {
        let mut finished = from.recv()?.len() as u64;
        finished += from.try_iter().map(|of| of.len() as u64).sum::<u64>();
        done += finished;
        more.extend((next..count.min(next + finished)).map(command));
        next += more.len() as u64;
        drive.submit(&more).map_err(|_| "closed")?;
        more.clear();
    }
    let seconds = begun.elapsed().as_secs_f64();
    println!("{:.0} commands/s", count as f64 / seconds);
    print!("{}", drive.finish()?.to_text());
    Ok(())
}
