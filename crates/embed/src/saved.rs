//! Saved devices: the submissions of a device, and a device that repeats them.

use crate::arrivals::Arrival;
use crate::device::{Device, Inner, machine};
use crate::error::Error;
use crate::journal::{self, Journal};
use crate::machine::digest_with;
use crate::options::Options;
use crate::request::Request;
use interpulse_engine::{Op, Request as DeviceRequest, SECTOR};

impl Device {
    /// Builds a device as [`Device::create`] does and repeats the submissions of a [saved](Device::save) one; takes as long as
    /// simulating them took.
    ///
    /// # Errors
    /// Those of [`Device::create`]; [`Error::State`] if `saved` is damaged, of another configuration, or of a version of
    /// interpulse that simulates otherwise.
    pub fn restore(options: &Options, saved: &[u8]) -> Result<Device, Error> {
        let case = options.case()?;
        let saved = journal::read(saved, &case.config_hash())?;
        let mut device = Device::create(&Options { journal: true, ..options.clone() })?;
        for (tag, arrival) in (0..).zip(&saved.submissions) {
            device.check_restored(tag, arrival)?;
            device.accept(*arrival);
        }
        device.next_tag = saved.submissions.len() as u64;
        machine!(&mut device.inner, m => m.advance(saved.now, false))?;
        let (count, polled) = (saved.completed.0 as usize, saved.polled as usize);
        // A device that was saved within an instant had not yet handled all of it, so there may be more.
        let digest = machine!(&device.inner, m => {
            let all = m.completions.len() >= count.max(polled);
            all.then(|| m.completions.iter().take(count).fold(0, digest_with))
        });
        if digest != Some(saved.completed.1) {
            let why =
                "the saved state does not fit: this version of interpulse simulates the requests otherwise";
            return Err(Error::State(why.into()));
        }
        machine!(&mut device.inner, m => drop(m.completions.drain(..polled)));
        device.polled = saved.polled;
        Ok(device)
    }

    /// An arrival of a file is one that this device can take.
    fn check_restored(&self, tag: u64, arrival: &Arrival) -> Result<(), Error> {
        let namespaces = machine!(&self.inner, m => &m.namespaces);
        let DeviceRequest { op, sector, sectors, handle } = arrival.request;
        let first = namespaces.get(arrival.namespace as usize).map_or(u64::MAX, |of| of.start);
        let offset = if op == Op::Flush { Some(0) } else { sector.checked_sub(first) };
        let request = Request {
            op,
            namespace: arrival.namespace.saturating_add(1),
            queue: arrival.queue,
            handle,
            offset: offset.and_then(|n| n.checked_mul(SECTOR.get())).unwrap_or(u64::MAX),
            bytes: u64::from(sectors) * SECTOR.get(),
            cookie: arrival.cookie,
        };
        match self.check(arrival.at, &request) {
            Ok(checked) if checked == arrival.request && tag == arrival.tag => Ok(()),
            Ok(_) => Err(Error::State("the saved state does not fit: a request contradicts itself".into())),
            Err(error) => Err(Error::State(format!("the saved state does not fit: {error}"))),
        }
    }

    /// State of the device with everything that is in flight, for [`Device::restore`].
    ///
    /// # Errors
    /// [`Error::State`] without [`Options::journal`], [`Error::Finished`] after [`Device::finish`].
    pub fn save(&self) -> Result<Vec<u8>, Error> {
        if self.finished {
            return Err(Error::Finished);
        }
        let Some(submissions) = &self.journal else {
            return Err(Error::State("only a device created with a journal can be saved".into()));
        };
        let config_hash = self.case.config_hash();
        let (now, waiting, digest) =
            machine!(&self.inner, m => (m.now(), m.completions.len() as u64, m.digest));
        let completed = (self.polled + waiting, digest);
        Ok(Journal { config_hash: &config_hash, now, polled: self.polled, completed, submissions }.bytes())
    }
}
