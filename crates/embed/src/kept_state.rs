//! Kept state: what a drive keeps when it is switched off in order, in a file.

use crate::device::Device;
use crate::error::Error;
use crate::options::Options;
use interpulse_engine::Duration;
use interpulse_study::config::Case;
use interpulse_study::initial_state::snapshot::{open_file, save_as};
use interpulse_study::machine::memory_admission::admit;
use std::fs::File;
use std::path::Path;

/// A device whose dies idle and whose next event is later than this rests.
const REST: Duration = Duration::from_ms(1);

/// Why the state of an array is not kept.
const NO_ARRAY: &str = "array: the state of several drives cannot be kept beyond a session";

impl Device {
    /// Builds a device as [`Device::create`] does, which starts with the state that [`Device::save_state`] has written to `path`
    /// in place of `[precondition]`: map, wear and open blocks. Simulated time starts at zero, and with it the age of the data.
    ///
    /// # Errors
    /// Those of [`Device::create`]; [`Error::State`] if the file cannot be read, is damaged, or is of another version or of a
    /// configuration whose keys that shape a state differ.
    pub fn create_from_state(options: &Options, path: &Path) -> Result<Device, Error> {
        let case = options.case()?;
        check(&case)?;
        admit(std::slice::from_ref(&case), 1).map_err(Error::Resources)?;
        let kept = open_file(&case.drive, path, &case.state_hash(), &mut |_, _| true);
        let state = kept.and_then(|kept| kept.state()).map_err(|error| Error::State(error.to_string()))?;
        Device::over(options, case, state, Vec::new())
    }

    /// Whether [`Device::save_state`] can keep the state of a device of this configuration.
    ///
    /// # Errors
    /// [`Error::Config`] for a configuration that cannot be used, [`Error::State`] with the key that excludes it.
    pub fn can_keep_state(options: &Options) -> Result<(), Error> {
        check(&options.case()?)
    }

    /// Advances a device without pending requests until its own work rests: collection that has begun, and programs of full pages.
    ///
    /// # Errors
    /// Those of [`Device::advance_to`].
    pub fn rest(&mut self) -> Result<(), Error> {
        while let Some(next) = self.next_event_time() {
            // Timers of a drive at rest, such as patrol reads, never end.
            if self.activity().busy_dies == 0 && next.since(self.now()) > REST {
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
    /// that the format does not hold, such as an array or an SLC cache, and if the file cannot be written.
    pub fn save_state(&self, path: &Path) -> Result<u64, Error> {
        let Some((drive, case)) = self.finished_drive() else {
            return Err(Error::State("only the state of a single finished drive can be kept".into()));
        };
        let state = drive.parked_state().map_err(Error::State)?;
        let failed = |error: &dyn std::fmt::Display| Error::State(error.to_string());
        let size =
            save_as(&state, path, &case.state_hash(), &mut |_, _| true).map_err(|error| failed(&error))?;
        let durable = File::open(path).and_then(|file| file.sync_all());
        durable.map_err(|error| failed(&format_args!("{}: {error}", path.display())))?;
        Ok(size)
    }
}

fn check(case: &Case) -> Result<(), Error> {
    if case.array.is_some() {
        return Err(Error::State(NO_ARRAY.into()));
    }
    match case.drive.excludes_parking() {
        Some((key, what)) => Err(Error::State(format!("{key}: {what} cannot be kept beyond a session"))),
        None => Ok(()),
    }
}
