//! State saver: writes the state of an idle drive from time to time, so that it outlives a kill of the server.

use super::clock::{Pace, WallTime};
use super::pacer::Pacer;
use interpulse_embed::{Error, Parked};
use rustix::time::{ClockId, clock_gettime};
use std::path::PathBuf;
use std::thread::JoinHandle;
use std::time::Duration;

/// Largest share of the time of a drive that making copies of its state takes: one in so many.
const SHARE: u32 = 100;

/// File in which a drive keeps its state from session to session.
pub struct StateFile {
    /// Path of the file.
    pub path: PathBuf,
    /// Shortest time between two saves of a drive that is idle; `None` saves at the end of a session alone.
    pub every: Option<Duration>,
}

/// Saves the state of a drive when no command is under way.
pub struct StateSaver {
    file: StateFile,
    /// Writes the last copy.
    writer: Option<JoinHandle<Result<u64, Error>>>,
    /// Earliest next save.
    next: WallTime,
    /// Commands before the last save.
    saved: u64,
    /// Saves that failed, and why the last one did.
    failed: Option<(u64, String)>,
}

/// CPU time of the calling thread.
fn thread_time() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(now.tv_sec.unsigned_abs(), now.tv_nsec.unsigned_abs() as u32)
}

impl StateSaver {
    /// A saver of a drive whose session begins.
    pub fn new(file: StateFile) -> StateSaver {
        let next = WallTime(file.every.map_or(u64::MAX, |every| every.as_nanos() as u64));
        StateSaver { file, writer: None, next, saved: 0, failed: None }
    }

    /// When an idle drive has to be looked at again; `None` if there is nothing to save.
    pub fn due(&self, pacer: &Pacer) -> Option<WallTime> {
        let changed = pacer.statistics.submitted > self.saved;
        (changed && self.file.every.is_some()).then_some(self.next)
    }

    /// Copies the state, if that is due and the drive is idle, and lets a thread write it.
    ///
    /// # Errors
    /// Those of the device. A file that cannot be written is named in the report.
    pub fn step(&mut self, pacer: &mut Pacer, pace: Pace, now: WallTime) -> Result<(), Error> {
        if pacer.outstanding() > 0 || self.due(pacer).is_none_or(|due| now < due) {
            return Ok(());
        }
        if self.writer.as_ref().is_some_and(|writer| !writer.is_finished()) {
            return Ok(());
        }
        self.join();
        if pace == Pace::Max {
            // No drive time passes by itself, so work that has begun would never end.
            pacer.device.rest()?;
        }
        let began = thread_time();
        let Some(parked) = pacer.device.parked()? else { return Ok(()) };
        let took = thread_time().saturating_sub(began);
        let every = self.file.every.unwrap_or_default().max(took * SHARE);
        self.next = WallTime(now.0.saturating_add(every.as_nanos() as u64));
        self.saved = pacer.statistics.submitted;
        self.write(parked);
        Ok(())
    }

    fn write(&mut self, parked: Parked) {
        let path = self.file.path.clone();
        let spawned = std::thread::Builder::new().name("state".into()).spawn(move || parked.write(&path));
        match spawned {
            Ok(writer) => self.writer = Some(writer),
            Err(error) => self.note(error.to_string()),
        }
    }

    fn note(&mut self, why: String) {
        let count = self.failed.take().map_or(0, |(count, _)| count);
        self.failed = Some((count + 1, why));
    }

    fn join(&mut self) {
        match self.writer.take().map(JoinHandle::join) {
            None | Some(Ok(Ok(_))) => {}
            Some(Ok(Err(error))) => self.note(error.to_string()),
            Some(Err(_)) => self.note("its thread has panicked".into()),
        }
    }

    /// Writes the state of a finished drive, after any save under way; returns a line about saves that failed before.
    ///
    /// # Errors
    /// [`Error::State`] if it cannot be written.
    pub fn end(&mut self, pacer: &Pacer) -> Result<Option<String>, Error> {
        self.join();
        pacer.device.save_state(&self.file.path)?;
        let line = |(count, why): (u64, String)| {
            format!("{count} saves of the state failed while the drive was served, the last one with: {why}")
        };
        Ok(self.failed.take().map(line))
    }
}
