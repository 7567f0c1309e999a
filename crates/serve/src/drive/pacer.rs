//! Pacer: submits commands at the drive time of their arrival, and completes them when the drive does.
//!
//! A pacer has no thread and reads no clock: its owner passes wall time in. Completions depend on the arrivals alone, because
//! the device does not depend on how its host divides time into calls.

use super::clock::{Clock, Pace, WallTime};
use super::record::Recorder;
use super::statistics::{Ended, Statistics};
use super::suspension::{Change, Wanted};
use super::units::UnitData;
use crate::command::{Command, Done, Kind, Outcome};
use interpulse_embed::{Completion, Device, Error, Op, Request, SimTime, StatusCode, UnitChange};

/// Largest request of a device that is not a trim.
const LARGEST_PART: u64 = 1 << 30;

/// How long background work of a drive without outstanding requests may wait, in ns of wall time. Nothing but the next
/// command depends on it, and every command brings the drive up to date first.
const IDLE_DELAY: u64 = 2_000_000;

/// A command with the wall time of its arrival.
#[derive(Clone, Copy, Debug)]
pub struct Arrived {
    /// When it arrived.
    pub at: WallTime,
    /// The command.
    pub command: Command,
}

/// When a pacer has to step again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wake {
    /// At once.
    Now,
    /// At a wall instant, or with the next command if that is earlier.
    At(WallTime),
    /// With the next command.
    Command,
}

/// A completed command with the instant at which it is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Due {
    /// The completion.
    pub done: Done,
    /// Wall instant at which the simulated drive completes it; `None` at the highest pace.
    pub at: Option<WallTime>,
}

/// A command that the device has and has not completed.
struct Outstanding {
    command: Command,
    submitted: SimTime,
    /// Requests of the device that make up the command and have not completed.
    parts: u32,
    /// Whether its data is written, and the flush outstanding that makes it durable.
    flushing: bool,
    outcome: Outcome,
    /// Its data could not be stored, and it ends like this.
    unstored: Option<Outcome>,
}

/// A device that follows a clock.
pub struct Pacer {
    /// The device.
    pub device: Device,
    /// Measured so far.
    pub statistics: Statistics,
    /// Record of the commands, if one is written.
    pub recorder: Option<Recorder>,
    /// Changes of the suspension so far.
    pub changes: Vec<Change>,
    /// `None` at the highest pace.
    clock: Option<Clock>,
    is_array: bool,
    outstanding: slab::Slab<Outstanding>,
    /// Data of the units, if a power cut reverts them, and changes that have not been passed to them.
    units: Option<(Box<dyn UnitData>, Vec<UnitChange>)>,
}

impl Pacer {
    /// A pacer over a new device.
    pub fn new(device: Device, is_array: bool, pace: Pace, recorder: Option<Recorder>) -> Pacer {
        Pacer {
            device,
            statistics: Statistics::default(),
            recorder,
            changes: Vec::new(),
            clock: pace.dilation().map(Clock::new),
            is_array,
            outstanding: slab::Slab::new(),
            units: None,
        }
    }

    /// Passes changes of units to `units` from now on, which have so many bytes.
    pub fn follow_units(&mut self, mut units: Box<dyn UnitData>, unit_bytes: u64) {
        units.begin(unit_bytes);
        self.units = Some((units, Vec::new()));
    }

    /// Commands that the drive has and has not completed.
    pub fn outstanding(&self) -> usize {
        self.outstanding.len()
    }

    /// Takes commands in the order of their arrival, none later than `now`, and adds to `due` what has completed by `now`. At the
    /// highest pace it completes what completes next.
    ///
    /// # Errors
    /// Those of the device, after which it is of no more use.
    pub fn step(&mut self, now: WallTime, arrived: &[Arrived], due: &mut Vec<Due>) -> Result<(), Error> {
        self.statistics.begin_step(now);
        for Arrived { at, command } in arrived {
            if let Some(clock) = &mut self.clock {
                clock.start(*at);
                let at = clock.drive_time(*at).max(self.device.now());
                self.advance(at, due)?;
            }
            self.submit(command, due)?;
        }
        match &mut self.clock {
            Some(clock) => {
                let now = clock.drive_time(now).max(self.device.now());
                self.advance(now, due)
            }
            None => self.complete_next(due),
        }
    }

    /// Changes the suspension now.
    ///
    /// # Errors
    /// Those of the device.
    pub fn change_suspension(&mut self, wanted: Wanted) -> Result<Change, Error> {
        let Wanted { suspension, settings } = wanted;
        self.device.set_suspension(&suspension)?;
        let (program, erase) = (suspension.program(), suspension.erase());
        let change = Change { at: self.device.now(), settings, program, erase };
        self.changes.push(change.clone());
        Ok(change)
    }

    /// When the pacer has to step again.
    pub fn wake(&self, now: WallTime) -> Wake {
        let Some(clock) = &self.clock else {
            return if self.outstanding.is_empty() { Wake::Command } else { Wake::Now };
        };
        let next = self.device.next_event_time().and_then(|at| clock.due(at));
        match next {
            None => Wake::Command,
            Some(next) if self.outstanding.is_empty() => Wake::At(next.max(WallTime(now.0 + IDLE_DELAY))),
            Some(next) if next <= now => Wake::Now,
            Some(next) => Wake::At(next),
        }
    }

    /// Completes every outstanding command as fast as the simulation allows, at the end of a session.
    ///
    /// # Errors
    /// Those of [`Pacer::step`].
    pub fn drain(&mut self, due: &mut Vec<Due>) -> Result<(), Error> {
        while !self.outstanding.is_empty() {
            self.complete_next(due)?;
        }
        Ok(())
    }

    /// Cuts the power of the device now, and adds the commands that this ends to `due`.
    ///
    /// # Errors
    /// Those of the device.
    pub fn cut_power(&mut self, due: &mut Vec<Due>) -> Result<(), Error> {
        self.device.cut_power()?;
        self.take_completions(due)
    }

    /// Ends every outstanding command with an error, after the device has failed.
    pub fn abandon(&mut self, due: &mut Vec<Due>) {
        let commands: Vec<Command> = self.outstanding.drain().map(|of| of.command).collect();
        for command in commands {
            let outcome = self.ended(&command, Outcome::IoError);
            due.push(Due { done: command.done(outcome), at: None });
        }
    }

    /// How `command` ends for its client.
    fn ended(&mut self, command: &Command, outcome: Outcome) -> Outcome {
        match &mut self.units {
            Some((units, _)) => units.ended(command, outcome),
            None => outcome,
        }
    }

    /// Advances the device to `to` and handles its completions.
    fn advance(&mut self, to: SimTime, due: &mut Vec<Due>) -> Result<(), Error> {
        while self.device.advance_to_completion(Some(to))? {
            self.take_completions(due)?;
        }
        self.take_unit_changes()
    }

    /// Advances the device to the next instant with a completion.
    fn complete_next(&mut self, due: &mut Vec<Due>) -> Result<(), Error> {
        if self.device.advance_to_completion(None)? {
            self.take_completions(due)?;
        }
        Ok(())
    }

    fn take_completions(&mut self, due: &mut Vec<Due>) -> Result<(), Error> {
        // A command completes after its data are stored.
        self.take_unit_changes()?;
        while let Some(completion) = self.device.pop() {
            self.take(&completion, due)?;
        }
        Ok(())
    }

    fn take_unit_changes(&mut self) -> Result<(), Error> {
        let Some((units, changes)) = &mut self.units else { return Ok(()) };
        self.device.take_unit_changes(changes);
        for change in changes.drain(..) {
            if change == UnitChange::PowerLost {
                // The flush of a durable write may come after the cut that has lost its data.
                let flushing = self.outstanding.iter_mut().filter(|(_, of)| of.flushing);
                flushing.for_each(|(_, of)| of.unstored = Some(Outcome::IoError));
            }
            let UnitChange::Written { cookie, offset, version, absorbed } = change else {
                units.changed(&change).map_err(Error::Resources)?;
                continue;
            };
            let of = &mut self.outstanding[cookie as usize];
            if let Err(outcome) = units.written(&of.command, offset, version, absorbed) {
                of.unstored = Some(outcome);
            }
        }
        Ok(())
    }

    /// Submits a command now.
    fn submit(&mut self, command: &Command, due: &mut Vec<Due>) -> Result<(), Error> {
        let now = self.device.now();
        let Some(op) = self.operation(command.kind).filter(|_| self.is_legal(command)) else {
            let outcome = self.ended(command, Outcome::InvalidArgument);
            due.push(Due { done: command.done(outcome), at: self.due_at(now) });
            return Ok(());
        };
        if let Some(recorder) = &mut self.recorder {
            recorder.record(now, command);
        }
        let entry = Outstanding {
            command: *command,
            submitted: now,
            parts: 0,
            flushing: false,
            outcome: Outcome::Success,
            unstored: None,
        };
        let key = self.outstanding.insert(entry);
        let whole = if op == Op::Flush { 0 } else { u64::from(command.length) };
        let (mut offset, mut left, mut parts) = (if whole > 0 { command.offset } else { 0 }, whole, 0);
        loop {
            let bytes = if op == Op::Trim { left } else { left.min(LARGEST_PART) };
            let request = Request { op, offset, bytes, cookie: key as u64, ..Request::flush() };
            self.device.submit(now, &request)?;
            (offset, left, parts) = (offset + bytes, left - bytes, parts + 1);
            if left == 0 {
                break;
            }
        }
        self.outstanding[key].parts = parts;
        self.statistics.submitted(self.outstanding.len());
        Ok(())
    }

    /// Operation of the device; `None` if the device has none. An array, which has neither, writes zeroes as data.
    fn operation(&self, kind: Kind) -> Option<Op> {
        match kind {
            Kind::Read => Some(Op::Read),
            Kind::Write { .. } => Some(Op::Write),
            Kind::Flush => Some(Op::Flush),
            Kind::Trim if self.is_array => None,
            Kind::Trim => Some(Op::Trim),
            Kind::WriteZeroes { .. } if self.is_array => Some(Op::Write),
            Kind::WriteZeroes { .. } => Some(Op::WriteZeroes),
        }
    }

    /// Whether the device takes the range of a command.
    fn is_legal(&self, command: &Command) -> bool {
        let (offset, length) = (command.offset, u64::from(command.length));
        let capacity = self.device.capacity(1).unwrap_or(0);
        command.kind == Kind::Flush
            || (offset | length) % 512 == 0 && length > 0 && offset < capacity && length <= capacity - offset
    }

    /// Handles the completion of a request of the device.
    fn take(&mut self, completion: &Completion, due: &mut Vec<Due>) -> Result<(), Error> {
        let key = completion.cookie as usize;
        let of = &mut self.outstanding[key];
        of.parts -= 1;
        if completion.status != StatusCode::SUCCESS {
            of.outcome = outcome_of(completion.status);
        }
        if of.parts > 0 {
            return Ok(());
        }
        if of.outcome == Outcome::Success && of.command.is_fua() && !of.flushing {
            // A device has no durable write: the flush that follows it covers the write.
            (of.flushing, of.parts) = (true, 1);
            let flush = Request { cookie: completion.cookie, ..Request::flush() };
            return self.device.submit(self.device.now(), &flush).map(drop);
        }
        let Outstanding { command, submitted, outcome, unstored, .. } = self.outstanding.remove(key);
        let outcome = unstored.filter(|_| outcome == Outcome::Success).unwrap_or(outcome);
        let outcome = self.ended(&command, outcome);
        self.statistics.ended(&Ended { command, submitted, completion, outcome });
        due.push(Due { done: command.done(outcome), at: self.due_at(completion.completed) });
        Ok(())
    }

    fn due_at(&self, at: SimTime) -> Option<WallTime> {
        self.clock.as_ref().and_then(|clock| clock.due(at))
    }
}

/// Result of a command whose request has this status, which is an error.
fn outcome_of(status: StatusCode) -> Outcome {
    // Command Generic: Namespace is Write Protected.
    const WRITE_PROTECTED: StatusCode = StatusCode(0x020);
    match status {
        StatusCode::SUCCESS => Outcome::Success,
        WRITE_PROTECTED => Outcome::NotPermitted,
        _ => Outcome::IoError,
    }
}

impl Command {
    /// Completion of the command.
    fn done(&self, outcome: Outcome) -> Done {
        Done { connection: self.connection, cookie: self.cookie, outcome }
    }

    /// Whether the command completes when its data is durable.
    fn is_fua(&self) -> bool {
        matches!(self.kind, Kind::Write { fua: true } | Kind::WriteZeroes { fua: true })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use interpulse_engine::Status;

    #[test]
    fn a_read_only_drive_and_a_failed_one_have_outcomes_of_their_own() {
        for (status, outcome) in [
            (StatusCode::SUCCESS, Outcome::Success),
            (StatusCode::from(Status::NamespaceIsWriteProtected), Outcome::NotPermitted),
            (StatusCode::from(Status::UnrecoveredReadError), Outcome::IoError),
            (StatusCode::ABORTED_BY_POWER_LOSS, Outcome::IoError),
        ] {
            assert_eq!(outcome_of(status), outcome, "{status:?}");
        }
    }
}
