//! Kept state: what a drive keeps when it is switched off in order, in a file.

use crate::device::{Device, Inner, machine};
use crate::error::Error;
use crate::options::Options;
use interpulse_drive::{History, PreconditionedState};
use interpulse_engine::Duration;
use interpulse_study::config::Case;
use interpulse_study::initial_state::kept_state::{self, KeptState, description::Aged, excluded};
use interpulse_study::machine::memory_admission::admit;
use std::path::Path;
use std::sync::Arc;

/// A device whose dies idle and whose next event is later than this rests.
const REST: Duration = Duration::from_ms(1);

/// State of a drive at an instant, to be written by any thread.
pub struct Parked {
    state: PreconditionedState,
    history: History,
    case: Case,
}

impl Parked {
    /// Writes the state to `path` and replaces a file of this name as a whole. The file is durable when the call returns its
    /// size.
    ///
    /// # Errors
    /// [`Error::State`] if the file cannot be written.
    pub fn write(&self, path: &Path) -> Result<u64, Error> {
        kept_state::save(&self.state, &self.history, &self.case, path).map_err(state_error)
    }
}

fn state_error(error: impl std::fmt::Display) -> Error {
    Error::State(error.to_string())
}

/// What the file of a kept state says, as JSON; figures include the ageing by [`age_state`].
///
/// # Errors
/// [`Error::State`] if it cannot be read, is damaged, or is of another version.
pub fn show_state(path: &Path) -> Result<String, Error> {
    let kept = KeptState::read(path).map_err(state_error)?;
    Ok(kept.to_json().to_string())
}

/// Ages the drive of the kept state `path` without simulation, by P/E cycles of every block, retention of all data and page
/// reads of every block, and writes it to `out`, which may be the same file.
///
/// # Errors
/// Those of [`show_state`], and for more than the configuration allows at the start of a run: 1,000,000 cycles, 20 years.
pub fn age_state(path: &Path, out: &Path, cycles: u32, retention: Duration, reads: u32) -> Result<(), Error> {
    let more = Aged { cycles, retention_ns: retention.as_ns(), reads };
    kept_state::age(path, out, more).map(drop).map_err(state_error)
}

/// Copies the kept state `path` to `out`; with `options` for a drive of that configuration.
///
/// # Errors
/// Those of [`show_state`] and, for keys that go with another state, of [`Device::create_from_state`].
pub fn clone_state(path: &Path, out: &Path, options: Option<&Options>) -> Result<(), Error> {
    let case = options.map(Options::case).transpose()?;
    if let Some(case) = &case {
        check(case)?;
    }
    kept_state::copy(path, out, case.as_ref()).map(drop).map_err(state_error)
}

impl Device {
    /// Builds a device as [`Device::create`] does, which starts with the state that [`Device::save_state`] has written to `path`
    /// in place of `[precondition]`: map, wear, open blocks, and with an error table the ages and reads of the blocks. Simulated
    /// time starts at zero.
    ///
    /// # Errors
    /// Those of [`Device::create`]; [`Error::State`] if the file cannot be read, is damaged, or is of another version or of a
    /// configuration whose keys that shape a state differ, except those of `[precondition]`.
    pub fn create_from_state(options: &Options, path: &Path) -> Result<Device, Error> {
        let mut case = options.case()?;
        check(&case)?;
        admit(std::slice::from_ref(&case), 1).map_err(Error::Resources)?;
        let (kept, snapshot) = KeptState::open(&case, path).map_err(state_error)?;
        let state = kept_state::state_of(&kept, &snapshot).map_err(state_error)?;
        case.state_files.history = Arc::new(kept.history);
        Device::over(options, case, state, Vec::new())
    }

    /// Whether [`Device::save_state`] can keep the state of a device of this configuration.
    ///
    /// # Errors
    /// [`Error::Config`] for a configuration that cannot be used, [`Error::State`] with the key that excludes it.
    pub fn can_keep_state(options: &Options) -> Result<(), Error> {
        check(&options.case()?)
    }

    /// Advances a device without pending requests until its own work rests: recovery, collection that has begun, and programs of
    /// full pages.
    ///
    /// # Errors
    /// Those of [`Device::advance_to`].
    pub fn rest(&mut self) -> Result<(), Error> {
        while let Some(next) = self.next_event_time() {
            // Timers of a drive at rest, such as patrol reads, never end; a drive without power waits for it.
            let is_down = machine!(&self.inner, m => m.is_down());
            if !is_down && self.activity().busy_dies == 0 && next.since(self.now()) > REST {
                break;
            }
            self.advance_to(next)?;
        }
        Ok(())
    }

    /// Writes the state of a finished device, all data on flash, to `path`, and replaces a file of this name as a whole. The
    /// file is durable when the call returns its size.
    ///
    /// # Errors
    /// [`Error::State`] before [`Device::finish`] and where collection was interrupted ([`Device::rest`]), for a device with state
    /// that the format does not hold, such as an array or placement handles, and if the file cannot be written.
    pub fn save_state(&self, path: &Path) -> Result<u64, Error> {
        if !self.is_finished() {
            return Err(Error::State("only the state of a finished drive can be kept".into()));
        }
        let parked = self.parked()?;
        let why = "power is off, or programs of collection were interrupted: let the drive rest first";
        parked.ok_or_else(|| Error::State(why.into()))?.write(path)
    }

    /// State of a drive at this instant, cached data on flash as after an orderly end; `None` while a request is pending or the
    /// flash array works.
    ///
    /// # Errors
    /// [`Error::State`] for a device with state that the format does not hold, such as an array or placement handles.
    pub fn parked(&self) -> Result<Option<Parked>, Error> {
        let Some((drive, case, now)) = self.idle_drive()? else { return Ok(None) };
        let state = drive.parked_state().map_err(Error::State)?;
        let history = drive.history_after(&case.state_files.history, now);
        Ok(Some(Parked { state, history, case: case.clone() }))
    }
}

fn check(case: &Case) -> Result<(), Error> {
    excluded(case).map_or(Ok(()), |why| Err(Error::State(why)))
}
