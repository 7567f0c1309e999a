//! Suspension of a device, which can change while the device runs: scheme and limits of programs and of erases.

use crate::device::{Device, Inner};
use crate::error::Error;
use crate::options::Options;
use interpulse_flash::nand;
use interpulse_study::config::Case;

/// Sections whose keys can change.
const SECTIONS: [&str; 2] = ["suspend.program.", "suspend.erase."];

/// Checked policies of programs and of erases.
#[derive(Clone, Debug, PartialEq)]
pub struct Suspension(nand::Suspension);

impl Suspension {
    /// Suspension of the configuration of `options` with `changes` on top, (key, value) as overrides of the command line.
    ///
    /// # Errors
    /// [`Error::Config`] for keys outside `suspend.program` and `suspend.erase`, for values that are not legal or do not go
    /// together with the rest of the configuration, and for an array whose rebuilds change limits on their own.
    pub fn read(options: &Options, changes: &[(String, String)]) -> Result<Suspension, Error> {
        let mut sets = options.sets.clone();
        for (key, value) in changes {
            if !SECTIONS.iter().any(|section| key.starts_with(section)) {
                let why = "legal while the drive runs: keys of suspend.program and suspend.erase";
                return Err(Error::Config(format!("{key}: {why}")));
            }
            sets.retain(|(other, _)| other != key);
            sets.push((key.clone(), value.clone()));
        }
        let case = Options { sets, ..options.clone() }.case()?;
        if let Some(why) = fixed(&case) {
            return Err(Error::Config(why.into()));
        }
        Ok(Suspension(case.drive.nand.suspension()))
    }

    /// Name of the scheme of programs.
    pub fn program(&self) -> &'static str {
        self.0.program.scheme.name()
    }

    /// Name of the scheme of erases.
    pub fn erase(&self) -> &'static str {
        self.0.erase.scheme.name()
    }

    /// Names of all schemes.
    pub fn schemes() -> impl Iterator<Item = &'static str> {
        interpulse_flash::suspend::Scheme::ROWS.iter().map(|row| row.name)
    }
}

/// Why the suspension of a device of this configuration cannot change.
fn fixed(case: &Case) -> Option<&'static str> {
    let rebuild = case.array.as_ref().is_some_and(|array| array.coordination.rebuild.is_some());
    rebuild.then_some(
        "array.rebuild-suspend: rebuilds change the limits of suspensions; without it they can change while the drive runs",
    )
}

impl Device {
    /// Suspension of operations that begin now.
    pub fn suspension(&self) -> Suspension {
        Suspension(self.case.drive.nand.suspension())
    }

    /// Changes the suspension at the present instant. Programs and erases that are under way keep the policies with which they
    /// began, so that no operation changes its rules within a suspension.
    ///
    /// # Errors
    /// [`Error::Finished`] after [`Device::finish`]; [`Error::State`] for a device with a journal, which repeats requests alone.
    pub fn set_suspension(&mut self, suspension: &Suspension) -> Result<(), Error> {
        if self.finished {
            return Err(Error::Finished);
        }
        if self.journal.is_some() {
            let why = "a device with a journal repeats its requests, and not changes of its suspension";
            return Err(Error::State(why.into()));
        }
        let drives = match &mut self.inner {
            Inner::Drive(machine) => std::slice::from_mut(&mut machine.device),
            Inner::Array(machine) => machine.device.drives_mut(),
        };
        drives.iter_mut().for_each(|drive| drive.set_suspension(suspension.0.clone()));
        self.case.drive.nand.set_suspension(suspension.0.clone());
        Ok(())
    }
}
