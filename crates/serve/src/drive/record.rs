//! Record: the commands of a session as a trace that `interpulse run --trace` replays.
//!
//! Rows are those of `blkparse` (docs/TRACES.md): times in drive time with ns, from the first command on; a write with FUA is
//! followed by its flush in a replay too; the process column is the number of the connection. A run of the same configuration and
//! seed without warm-up (`run.warmup = "0s"`) has the latencies of the session. Writes of zeros are discards in the record.

use crate::command::{Command, Kind};
use interpulse_embed::SimTime;
use std::io::{self, Write};

/// A finished record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// Rows.
    pub rows: u64,
    /// What a user has to know about it.
    pub notes: Vec<String>,
}

/// Writer of a record.
pub struct Recorder {
    out: Box<dyn Write + Send>,
    /// Why recording has ended, if writing failed.
    failed: Option<String>,
    /// Rows written.
    rows: u64,
    /// Writes of zeros, which the format does not have.
    zeroes: u64,
    /// Whether rows may be in the buffer.
    unwritten: bool,
    /// The row being written.
    row: Vec<u8>,
}

impl Recorder {
    /// Records into `out`, which buffers.
    pub fn new(out: Box<dyn Write + Send>) -> Recorder {
        Recorder { out, failed: None, rows: 0, zeroes: 0, unwritten: false, row: Vec::new() }
    }

    /// Adds a command that arrives at `at`. After an error nothing more is recorded; see [`Recorder::end`].
    pub fn record(&mut self, at: SimTime, command: &Command) {
        if self.failed.is_some() {
            return;
        }
        match self.write(at, command) {
            Ok(()) => self.rows += 1,
            Err(error) => self.failed = Some(error.to_string()),
        }
        self.unwritten = true;
        self.zeroes += u64::from(matches!(command.kind, Kind::WriteZeroes { .. }));
    }

    fn write(&mut self, at: SimTime, command: &Command) -> io::Result<()> {
        let operation = match command.kind {
            Kind::Read => "R",
            Kind::Write { fua: false } => "W",
            Kind::Write { fua: true } => "WF",
            Kind::Flush => "FN",
            Kind::Trim | Kind::WriteZeroes { .. } => "D",
        };
        let (seconds, ns) = (at.as_ns() / 1_000_000_000, at.as_ns() % 1_000_000_000);
        let number = self.rows + 1;
        self.row.clear();
        write!(self.row, "  8,0 0 {number} {seconds}.{ns:09} {} Q {operation}", command.connection)?;
        if command.kind != Kind::Flush {
            write!(self.row, " {} + {}", command.offset / 512, command.length / 512)?;
        }
        writeln!(self.row, " [nbd]")?;
        // At once, so that a buffer holds whole rows and the file ends with one after a crash.
        self.out.write_all(&self.row)
    }

    /// Whether rows may be in the buffer.
    pub fn is_unwritten(&self) -> bool {
        self.unwritten
    }

    /// Writes what is buffered.
    pub fn flush(&mut self) {
        self.unwritten = false;
        if self.failed.is_none() {
            self.failed = self.out.flush().err().map(|error| error.to_string());
        }
    }

    /// Ends the record.
    pub fn end(&mut self) -> Recorded {
        self.flush();
        let mut notes = Vec::new();
        if let Some(why) = &self.failed {
            notes.push(format!("the record ends after {} commands: {why}", self.rows));
        }
        if self.zeroes > 0 {
            notes.push(format!("{} writes of zeros are discards in the record", self.zeroes));
        }
        Recorded { rows: self.rows, notes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};

    /// Memory that takes so many bytes.
    #[derive(Clone)]
    struct Room(Arc<Mutex<Vec<u8>>>, usize);

    impl Write for Room {
        fn write(&mut self, data: &[u8]) -> io::Result<usize> {
            let mut held = self.0.lock().expect("no panic");
            if held.len() + data.len() > self.1 {
                return Err(io::Error::other("no space left"));
            }
            held.extend_from_slice(data);
            Ok(data.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn command(kind: Kind) -> Command {
        Command { connection: 3, cookie: 9, kind, offset: 8_192, length: 4_096 }
    }

    #[test]
    fn commands_are_rows_of_blkparse() {
        let room = Room(Arc::default(), usize::MAX);
        let mut recorder = Recorder::new(Box::new(room.clone()));
        let kinds = [
            Kind::Read,
            Kind::Write { fua: false },
            Kind::Write { fua: true },
            Kind::Flush,
            Kind::Trim,
            Kind::WriteZeroes { fua: false },
        ];
        for (k, kind) in (0..).zip(kinds) {
            recorder.record(SimTime(k * 1_000_000_007), &command(kind));
        }
        let text = String::from_utf8(room.0.lock().expect("no panic").clone()).expect("rows are text");
        let expected = "  8,0 0 1 0.000000000 3 Q R 16 + 8 [nbd]\n  8,0 0 2 1.000000007 3 Q W 16 + 8 [nbd]\n  \
                        8,0 0 3 2.000000014 3 Q WF 16 + 8 [nbd]\n  8,0 0 4 3.000000021 3 Q FN [nbd]\n  \
                        8,0 0 5 4.000000028 3 Q D 16 + 8 [nbd]\n  8,0 0 6 5.000000035 3 Q D 16 + 8 [nbd]\n";
        assert_eq!(text, expected);
        let Recorded { rows, notes } = recorder.end();
        assert_eq!((rows, notes.len()), (6, 1));
        assert!(notes[0].contains("1 writes of zeros"), "{notes:?}");
    }

    #[test]
    fn a_full_disk_ends_the_record_and_not_the_drive() {
        let room = Room(Arc::default(), 100);
        let mut recorder = Recorder::new(Box::new(room.clone()));
        (0..5).for_each(|k| recorder.record(SimTime(k), &command(Kind::Read)));
        let Recorded { rows, notes } = recorder.end();
        assert_eq!(rows, 2);
        assert!(room.0.lock().expect("no panic").ends_with(b"[nbd]\n"), "the last row is whole");
        assert!(notes[0].contains("after 2 commands") && notes[0].contains("no space left"), "{notes:?}");
    }
}
