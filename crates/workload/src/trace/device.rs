//! The devices of a trace, told apart by host name and number.

use super::limits::DEVICES_MAX;
use super::problem::{RowFault, shorten};
use std::cmp::Ordering;
use std::fmt;

/// Host name (empty in formats without one) and device number.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct DeviceKey {
    pub host: String,
    pub number: u32,
}

impl fmt::Display for DeviceKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.is_empty() {
            write!(f, "device {}", self.number)
        } else {
            write!(f, "device {}_{}", shorten(&self.host), self.number)
        }
    }
}

/// Numbers the devices of a trace in order of first appearance.
#[derive(Clone, Default, Debug)]
pub(super) struct Devices {
    keys: Vec<DeviceKey>,
    /// Indices into `keys` in ascending order of key.
    sorted: Vec<u32>,
    /// The device of the row before: mostly that of the next row too.
    last: usize,
}

impl Devices {
    /// The index of a device, if it appeared before.
    pub fn find(&mut self, host: &str, number: u32) -> Option<u32> {
        let is = |key: &DeviceKey| key.number == number && compared(&key.host, host) == Ordering::Equal;
        if !self.keys.get(self.last).is_some_and(is) {
            self.last = self.sorted[self.search(host, number).ok()?] as usize;
        }
        Some(self.last as u32)
    }

    /// Gives a new device its index.
    pub fn add(&mut self, host: &str, number: u32) -> Result<u32, RowFault> {
        if self.keys.len() == DEVICES_MAX {
            return Err(RowFault::TooManyDevices);
        }
        let index = self.keys.len() as u32;
        let place = self.search(host, number).expect_err("the device is new");
        self.sorted.insert(place, index);
        self.keys.push(DeviceKey { host: host.to_owned(), number });
        Ok(index)
    }

    /// Every device with its index, in ascending order of host and number.
    pub fn ascending(&self) -> impl Iterator<Item = (usize, &DeviceKey)> {
        self.sorted.iter().map(|&index| (index as usize, &self.keys[index as usize]))
    }

    fn search(&self, host: &str, number: u32) -> Result<usize, usize> {
        self.sorted.binary_search_by(|&index| {
            let key = &self.keys[index as usize];
            compared(&key.host, host).then(key.number.cmp(&number))
        })
    }
}

/// The order of two host names. Most formats have none, and nothing is compared then: the C library's `memcmp` takes
/// hundreds of cycles for no bytes at an address that is none, which is what an empty text has.
#[inline]
fn compared(a: &str, b: &str) -> Ordering {
    if a.is_empty() || b.is_empty() { a.len().cmp(&b.len()) } else { a.cmp(b) }
}
