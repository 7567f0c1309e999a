//! Simulated drive: a device on a thread of its own, which completes commands when the drive would.

use super::changes::Changes;
use super::clock::{Pace, WallTime};
use super::faults::Faults;
use super::pacer::{Arrived, Due, Pacer, Wake};
use super::punctual::{be_punctual, wait};
use super::queue::{Closed, EndsQueue, Queue};
use super::record::Recorder;
use super::report::Report;
use super::state_saver::{StateFile, StateSaver};
use super::suspension::{Change, NotChanged, Settings};
use super::units::UnitData;
use super::view::{Session, View};
use crate::command::{Command, Done};
use interpulse_embed::{Device, Error, Options, message_of_panic};
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};

/// Completions delivered together at the highest pace, where none is due at an instant of its own.
const BATCH: usize = 32;
/// Wall time after which the rows of a record are written out, in ns.
const RECORD_DELAY: u64 = 1_000_000_000;

/// Wall time after which a save of the state that had to wait is tried again, in ns.
const SAVE_RETRY: u64 = 50_000_000;

/// What a simulated drive is made of.
pub struct Setup {
    /// Configuration of the device.
    pub options: Options,
    /// Pace.
    pub pace: Pace,
    /// Commands accepted before the first is delivered; further ones wait.
    pub limit: usize,
    /// Where a record of the commands is written, with a buffer.
    pub record: Option<Box<dyn Write + Send>>,
    /// File in which the drive keeps its map, wear and open blocks from session to session.
    pub state: Option<StateFile>,
}

/// A drive that follows wall time.
pub struct SimulatedDrive {
    queue: Arc<Queue>,
    session: Session,
    can_lose_power: bool,
    is_volatile: bool,
    changes: Changes,
    thread: Mutex<Option<JoinHandle<Result<Report, Error>>>>,
}

impl SimulatedDrive {
    /// [`SimulatedDrive::start_with`] for a drive whose data no power cut reverts.
    ///
    /// # Errors
    /// Those of [`SimulatedDrive::start_with`]; [`Error::Config`] for a drive that forgets acknowledged writes.
    pub fn start(
        setup: Setup,
        deliver: impl FnMut(&[Done]) + Send + 'static,
    ) -> Result<SimulatedDrive, Error> {
        SimulatedDrive::start_with(setup, deliver, None)
    }

    /// Builds the device with its initial state, on the calling thread, and starts its own thread. This calls `deliver` with
    /// completions in the order of drive time, outside any lock; a call that takes long delays the completions behind it. Where
    /// [a power cut reverts data](SimulatedDrive::is_volatile), it passes changes of units to `units` before.
    ///
    /// # Errors
    /// Those of [`Device::create`]; [`Error::Config`] for a drive of sequential zones, which is no block device, and one that
    /// forgets acknowledged writes without `units`; [`Error::State`] for a state of another configuration or version, and a device whose state
    /// cannot be kept; [`Error::Resources`] if the thread cannot be started.
    pub fn start_with(
        setup: Setup,
        deliver: impl FnMut(&[Done]) + Send + 'static,
        units: Option<Box<dyn UnitData>>,
    ) -> Result<SimulatedDrive, Error> {
        let Setup { options, pace, limit, record, state } = setup;
        let mut device = create(&options, state.as_ref().map(|file| file.path.as_path()))?;
        if device.counters().zones.is_some() {
            let why = "ftl.family = \"zoned\" or \"open-channel\": a block device needs random writes; legal: a page-mapped drive or an array";
            return Err(Error::Config(format!("{}: {why}", options.path)));
        }
        let is_volatile = device.forgets_acknowledged_writes();
        let units = units.filter(|_| is_volatile);
        let followed = units.and_then(|units| device.follow_units().map(|bytes| (units, bytes)));
        if is_volatile && followed.is_none() {
            let why = "cache.protected = false: a power cut loses acknowledged writes, and the owner of this drive does not take \
                       them back out of its data; legal: true, or cache.acknowledge = \"when-programmed\"";
            return Err(Error::Config(format!("{}: {why}", options.path)));
        }
        let can_lose_power = device.can_cut_power();
        let session = session_of(&device, pace);
        let changes = Changes::new(options, record.is_some());
        let queue = Arc::new(Queue::new(limit));
        let mut pacer = Pacer::new(device, session.is_array, pace, record.map(Recorder::new));
        if let Some((units, bytes)) = followed {
            pacer.follow_units(units, bytes);
        }
        let thread = DriveThread {
            pacer,
            queue: Arc::clone(&queue),
            session: session.clone(),
            deliver,
            due: Vec::new(),
            done: Vec::new(),
            recorded: WallTime(0),
            saver: state.map(StateSaver::new),
        };
        let run = move || thread.run();
        let thread = Builder::new().name("drive".into()).spawn(run);
        let thread = thread.map_err(|error| Error::Resources(format!("the thread of the drive: {error}")))?;
        Ok(SimulatedDrive {
            queue,
            session,
            can_lose_power,
            is_volatile,
            changes,
            thread: Mutex::new(Some(thread)),
        })
    }

    /// Bytes of the drive.
    pub fn capacity(&self) -> u64 {
        self.session.capacity
    }

    /// Whether the device executes trims; an array does not, and refuses them.
    pub fn can_trim(&self) -> bool {
        !self.session.is_array
    }

    /// Whether a power cut takes acknowledged writes back, so that their data go through the [`UnitData`] of the drive.
    pub fn is_volatile(&self) -> bool {
        self.is_volatile
    }

    /// Whether its thread has ended: by a failure, or after [`SimulatedDrive::finish`].
    pub fn has_ended(&self) -> bool {
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// What the drive is.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Submits commands, which arrive now; waits while as many as the limit are accepted and not delivered. Offsets and lengths
    /// are multiples of 512 bytes and lie within the drive, lengths are above 0 except for flushes; other commands complete with
    /// an error.
    ///
    /// # Errors
    /// [`Closed`] after [`SimulatedDrive::finish`] or a failure of the device; commands not taken get no completion.
    pub fn submit(&self, commands: &[Command]) -> Result<(), Closed> {
        self.queue.submit(commands)
    }

    /// Cuts the power of the drive at this instant, unless it is off already. Commands under way end with an error, those that
    /// come later wait until the drive has recovered. Returns false for a device without a section `[power-loss]`.
    pub fn cut_power(&self) -> bool {
        if self.can_lose_power {
            self.queue.cut_power();
        }
        self.can_lose_power
    }

    /// Why the suspension cannot change in this session, if it cannot.
    pub fn why_no_changes(&self) -> Option<&'static str> {
        self.changes.why_none()
    }

    /// Changes keys of `suspend.program` and `suspend.erase` and waits until the drive has done so. Programs and erases that
    /// have begun keep what they began with. Later changes keep what earlier ones have changed.
    ///
    /// # Errors
    /// [`NotChanged`]; nothing has changed then.
    pub fn change_suspension(&self, settings: Settings) -> Result<Change, NotChanged> {
        self.changes.make(&self.queue, settings)
    }

    /// View of the present; `None` if the drive has ended before the first view.
    pub fn view(&self) -> Option<Arc<View>> {
        self.queue.view()
    }

    /// Completes all commands as fast as the simulation allows, audits the device, writes its state and returns the report.
    ///
    /// # Errors
    /// Those of the device; [`Error::State`] if the state cannot be written; [`Error::Finished`] if called again.
    pub fn finish(&self) -> Result<Report, Error> {
        self.queue.close();
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        match thread.ok_or(Error::Finished)?.join() {
            Ok(report) => report,
            Err(panic) => Err(message_of_panic(&*panic)),
        }
    }
}

impl Drop for SimulatedDrive {
    fn drop(&mut self) {
        self.queue.close();
    }
}

/// The device, with the state of the last session if there is one.
fn create(options: &Options, state: Option<&Path>) -> Result<Device, Error> {
    match state {
        None => Device::create(options),
        Some(path) => {
            Device::can_keep_state(options).map_err(|error| match error {
                Error::State(why) => {
                    Error::State(format!("{}: {why}; legal: without a state (--no-state)", options.path))
                }
                other => other,
            })?;
            if path.exists() { Device::create_from_state(options, path) } else { Device::create(options) }
        }
    }
}

fn session_of(device: &Device, pace: Pace) -> Session {
    let description: serde_json::Value =
        serde_json::from_str(&device.describe()).expect("a description is JSON");
    Session {
        pace,
        config_hash: description["config_hash"].as_str().unwrap_or_default().into(),
        notes: device.notes().to_vec(),
        capacity: device.capacity(1).unwrap_or(0),
        is_array: description["device"] == "array",
    }
}

/// The thread of a drive.
struct DriveThread<F> {
    pacer: Pacer,
    queue: Arc<Queue>,
    session: Session,
    deliver: F,
    due: Vec<Due>,
    done: Vec<Done>,
    /// When the rows of the record were last written out.
    recorded: WallTime,
    saver: Option<StateSaver>,
}

impl<F: FnMut(&[Done])> DriveThread<F> {
    fn run(mut self) -> Result<Report, Error> {
        // At the highest pace a drive computes without a pause, and clients need the cores too.
        let punctual = self.session.pace == Pace::Max || be_punctual();
        let queue = Arc::clone(&self.queue);
        let _ends = EndsQueue(&queue);
        let caught = catch_unwind(AssertUnwindSafe(|| self.serve(&queue)));
        let served = caught.unwrap_or_else(|panic| Err(message_of_panic(&*panic)));
        if let Err(error) = served {
            self.pacer.abandon(&mut self.due);
            self.deliver_due();
            return Err(error);
        }
        if self.saver.is_some() {
            self.pacer.device.rest()?;
        }
        let audit = self.pacer.device.finish()?;
        let unsaved = self.saver.as_mut().map_or(Ok(None), |saver| saver.end(&self.pacer))?;
        let recorded = self.pacer.recorder.as_mut().map(Recorder::end);
        let view = View::new(&self.session, &mut self.pacer, queue.now());
        let mut report = Report::new(view.clone(), recorded, audit, punctual);
        report.warnings.extend(unsaved);
        report.faults = Faults::of(&self.pacer);
        queue.publish(view);
        Ok(report)
    }

    fn serve(&mut self, queue: &Queue) -> Result<(), Error> {
        let (mut arrived, mut delivered): (Vec<Arrived>, usize) = (Vec::new(), 0);
        loop {
            let taken = queue.take(delivered, &mut arrived);
            self.pacer.step(taken.now, &arrived, &mut self.due)?;
            if self.session.pace == Pace::Max {
                self.run_ahead(queue, taken.now)?;
            }
            if taken.cuts_power {
                self.pacer.cut_power(&mut self.due)?;
            }
            if let Some(wanted) = taken.wants_change.then(|| queue.take_wanted()).flatten() {
                queue.changed(self.pacer.change_suspension(wanted)?);
            }
            if taken.closing {
                self.drain(queue)?;
            }
            delivered = self.deliver_due();
            if taken.wants_view {
                queue.publish(View::new(&self.session, &mut self.pacer, queue.now()));
            }
            if taken.closing {
                return Ok(());
            }
            // A waiting submitter needs the room of what has been delivered.
            if delivered == 0 && !queue.has_work() {
                if let Some(saver) = &mut self.saver {
                    saver.step(&mut self.pacer, self.session.pace, taken.now)?;
                }
                self.wait(queue, taken.now);
            }
        }
    }

    /// Completes more at the highest pace, until commands wait.
    fn run_ahead(&mut self, queue: &Queue, now: WallTime) -> Result<(), Error> {
        while self.due.len() < BATCH && self.pacer.outstanding() > 0 && !queue.has_work() {
            self.pacer.step(now, &[], &mut self.due)?;
        }
        Ok(())
    }

    /// Completes everything at the end of a session. What is delivered before it is due has no slip.
    fn drain(&mut self, queue: &Queue) -> Result<(), Error> {
        self.pacer.drain(&mut self.due)?;
        let now = queue.now();
        self.due.iter_mut().filter(|due| due.at > Some(now)).for_each(|due| due.at = None);
        Ok(())
    }

    /// Delivers what is due and returns the number of completions.
    fn deliver_due(&mut self) -> usize {
        let count = self.due.len();
        if count == 0 {
            return 0;
        }
        self.done.extend(self.due.iter().map(|due| due.done));
        (self.deliver)(&self.done);
        self.done.clear();
        let now = self.queue.now();
        for due in self.due.drain(..) {
            if let Some(at) = due.at {
                self.pacer.statistics.delivered(at, now);
            }
        }
        count
    }

    /// Waits for the next event of the drive or for a command.
    fn wait(&mut self, queue: &Queue, now: WallTime) {
        let until = match self.pacer.wake(now) {
            Wake::Now => return,
            Wake::At(at) => Some(at),
            Wake::Command => None,
        };
        let save = self.saver.as_ref().and_then(|saver| saver.due(&self.pacer));
        // An idle drive that works is looked at again when its work may have ended.
        let save = save.map(|due| due.max(WallTime(now.0 + SAVE_RETRY)));
        let until = until.into_iter().chain(save.filter(|_| self.pacer.outstanding() == 0)).min();
        // Background work of an idle drive may wait a little longer.
        let exact = self.pacer.outstanding() > 0;
        wait(queue, self.write_record_before(until, now), exact);
    }

    /// Writes rows of the record out from time to time; returns the end of a wait that does not delay them.
    fn write_record_before(&mut self, until: Option<WallTime>, now: WallTime) -> Option<WallTime> {
        let Some(recorder) = self.pacer.recorder.as_mut().filter(|recorder| recorder.is_unwritten()) else {
            return until;
        };
        let next = WallTime(self.recorded.0 + RECORD_DELAY);
        if now >= next {
            recorder.flush();
            self.recorded = now;
            return until;
        }
        Some(until.map_or(next, |until| until.min(next)))
    }
}
