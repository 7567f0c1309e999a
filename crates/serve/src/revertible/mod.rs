//! Data of a drive that a power cut takes back to what its flash holds.
//!
//! A write waits here with its data until the drive has each of its units in the cache, and is stored unit by unit in the
//! drive's order. Before a unit changes, the undo log keeps its content, until a power cut can no longer restore it.

mod payloads;
mod undo_log;

use crate::command::{Command, Kind, Outcome};
use crate::drive::units::UnitData;
use crate::store::Store;
use interpulse_embed::UnitChange;
pub use payloads::{Payload, Payloads};
use std::io;
use std::sync::{Arc, OnceLock};
use undo_log::{Content, UndoLog};

/// Data of the units of a drive, in a store that is opened after the drive is built.
pub struct RevertibleData {
    store: Arc<OnceLock<Arc<Store>>>,
    payloads: Arc<Payloads>,
    unit: u64,
    undo: Option<UndoLog>,
}

impl RevertibleData {
    /// Data in the store that `store` will have before the first command, with the payloads of writes in `payloads`.
    pub fn new(store: Arc<OnceLock<Arc<Store>>>, payloads: Arc<Payloads>) -> RevertibleData {
        RevertibleData { store, payloads, unit: 0, undo: None }
    }

    /// Store and undo log.
    fn parts(&mut self) -> io::Result<(&Store, &mut UndoLog)> {
        let store = self.store.get().ok_or_else(|| io::Error::other("there is no store yet"))?;
        if self.undo.is_none() {
            self.undo = Some(UndoLog::new(store.folder(), self.unit)?);
        }
        let undo = self.undo.as_mut().expect("it is there");
        Ok((store, undo))
    }

    /// Keeps the content of the unit at `offset`, which `version` replaces.
    fn keep(&mut self, offset: u64, version: u32) -> io::Result<()> {
        let unit = self.unit as u32;
        let (store, undo) = self.parts()?;
        let mut content = Vec::with_capacity(unit as usize);
        store.read_to(offset, unit, &mut content)?;
        undo.keep(offset, version, &content)
    }

    fn write(&mut self, command: &Command, offset: u64, version: u32, absorbed: bool) -> io::Result<()> {
        if !absorbed {
            self.keep(offset, version)?;
        }
        let from = offset.max(command.offset);
        let to = (offset + self.unit).min(command.offset + u64::from(command.length));
        let store = self.store.get().ok_or_else(|| io::Error::other("there is no store yet"))?;
        self.payloads.with(command, |payload| match payload {
            Some(Payload::Data(data)) => {
                let at = |byte: u64| (byte - command.offset) as usize;
                store.write(from, &data[at(from)..at(to)])
            }
            Some(Payload::Zeroes { no_hole }) => store.write_zeroes(from, to - from, *no_hole),
            None => Err(io::Error::other("the data of a write are missing")),
        })
    }

    fn change(&mut self, change: &UnitChange) -> io::Result<()> {
        let unit = self.unit;
        match *change {
            UnitChange::Written { .. } => {}
            UnitChange::Trimmed { offset, version, absorbed } => {
                if !absorbed {
                    // Without room a cut leaves the unit trimmed, as its trim was acknowledged.
                    let _kept = self.keep(offset, version);
                }
                self.parts()?.0.deallocate(offset, unit)?;
            }
            UnitChange::Empty { offset, bytes } => self.parts()?.0.deallocate(offset, bytes)?,
            UnitChange::Durable { offset, version } => self.parts()?.1.durable(offset, version),
            UnitChange::Reverted { offset, version } => {
                let (store, undo) = self.parts()?;
                match undo.content(offset, version)? {
                    None => {}
                    Some(Content::Zeroes) => store.restore(offset, None, unit)?,
                    Some(Content::Bytes(bytes)) => store.restore(offset, Some(&bytes), unit)?,
                }
            }
            UnitChange::PowerLost => self.parts()?.1.clear(),
        }
        Ok(())
    }
}

/// Result of a command whose data cannot be stored.
fn outcome_of(error: &io::Error) -> Outcome {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            Outcome::NoSpace
        }
        _ => Outcome::IoError,
    }
}

impl UnitData for RevertibleData {
    fn begin(&mut self, unit_bytes: u64) {
        self.unit = unit_bytes;
    }

    fn written(
        &mut self,
        command: &Command,
        offset: u64,
        version: u32,
        absorbed: bool,
    ) -> Result<(), Outcome> {
        self.write(command, offset, version, absorbed).map_err(|error| outcome_of(&error))
    }

    fn changed(&mut self, change: &UnitChange) -> Result<(), String> {
        self.change(change).map_err(|error| format!("the backing file, or the undo log beside it: {error}"))
    }

    fn ended(&mut self, command: &Command, outcome: Outcome) -> Outcome {
        let payload = self.payloads.take(command);
        let is_zeroed = matches!(command.kind, Kind::WriteZeroes { .. }) && outcome == Outcome::Success;
        if let Some(Payload::Zeroes { no_hole: true }) = payload.filter(|_| is_zeroed)
            && let Some(store) = self.store.get()
            && let Err(error) = store.allocate(command.offset, u64::from(command.length))
        {
            return outcome_of(&error);
        }
        outcome
    }
}
