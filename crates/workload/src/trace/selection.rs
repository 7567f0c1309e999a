//! Selection of the devices of a trace that are replayed.
//!
//! A log of stacked devices (device mapper, md) has a request once for each of them. Rows that remap a request name
//! both devices; the upper one is left out if the lower one has requests of its own in the trace.

use super::device::DeviceKey;

/// Devices of which the rows are requests.
#[derive(Clone, Default, Debug)]
pub(super) struct Selection {
    /// The only device that is read, as the user names it.
    only: Option<String>,
    /// Devices whose requests a lower device has.
    stacked: Vec<DeviceKey>,
    /// Device of the previous row, and whether it is read.
    last: Option<(DeviceKey, bool)>,
}

impl Selection {
    pub fn new(only: Option<String>, stacked: Vec<DeviceKey>) -> Selection {
        Selection { only, stacked, last: None }
    }

    /// Whether rows of this device are requests.
    pub fn reads(&mut self, host: &str, number: u32) -> bool {
        if self.only.is_none() && self.stacked.is_empty() {
            return true;
        }
        if let Some((key, reads)) = &self.last
            && key.is(host, number)
        {
            return *reads;
        }
        let key = DeviceKey { host: host.to_owned(), number };
        let reads = match &self.only {
            Some(name) => key.is_named(name),
            None => !self.stacked.contains(&key),
        };
        self.last = Some((key, reads));
        reads
    }

    pub fn stacked(&self) -> &[DeviceKey] {
        &self.stacked
    }
}

/// Host and number of a device.
type DeviceRef<'t> = (&'t str, u32);

/// Remapped pairs of devices, upper and lower, of a trace.
#[derive(Clone, Default, Debug)]
pub(super) struct Remaps(Vec<(DeviceKey, DeviceKey)>);

/// More pairs indicate a damaged log.
const REMAPS_MAX: usize = 4096;

impl Remaps {
    pub fn add(&mut self, upper: DeviceRef<'_>, lower: DeviceRef<'_>) {
        let known = |(a, b): &(DeviceKey, DeviceKey)| a.is(upper.0, upper.1) && b.is(lower.0, lower.1);
        if self.0.len() < REMAPS_MAX && !self.0.iter().any(known) {
            let key = |(host, number): DeviceRef<'_>| DeviceKey { host: host.to_owned(), number };
            self.0.push((key(upper), key(lower)));
        }
    }

    /// Devices with requests of which a lower one also `has` requests, with that one.
    pub fn stacked(&self, has: impl Fn(&DeviceKey) -> bool) -> Vec<(&DeviceKey, &DeviceKey)> {
        let mut found: Vec<(&DeviceKey, &DeviceKey)> = Vec::new();
        for (upper, lower) in &self.0 {
            if upper != lower && has(upper) && has(lower) && !found.iter().any(|&(known, _)| known == upper) {
                found.push((upper, lower));
            }
        }
        found
    }
}
