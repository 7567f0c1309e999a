//! Device table of a trace: host names and numbers with dense indices.

use super::limits::DEVICES_MAX;
use super::problem::{RowFault, shorten};
use std::cmp::Ordering;
use std::fmt;

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct DeviceKey {
    pub host: String,
    pub number: u32,
}

impl DeviceKey {
    pub fn is(&self, host: &str, number: u32) -> bool {
        self.number == number && compared(&self.host, host) == Ordering::Equal
    }

    /// Whether a user's `name` means this device: `HOST_NUMBER`, `MAJOR,MINOR`, the host alone if the number is 0, or
    /// the number alone without a host.
    pub fn is_named(&self, name: &str) -> bool {
        if self.host.is_empty() {
            return name == self.number.to_string();
        }
        let number = name.strip_prefix(self.host.as_str());
        number.is_some_and(|rest| match rest.strip_prefix(['_', ',']) {
            Some(number) => number == self.number.to_string(),
            None => rest.is_empty() && self.number == 0,
        })
    }

    /// Name by which a user can select the device.
    pub fn name(&self) -> String {
        let separator = if self.host.bytes().all(|byte| byte.is_ascii_digit()) { ',' } else { '_' };
        match (self.host.is_empty(), self.number) {
            (true, number) => number.to_string(),
            (false, 0) if separator == '_' => self.host.clone(),
            (false, number) => format!("{}{separator}{number}", self.host),
        }
    }
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

/// Device table; indices follow the order of first appearance.
#[derive(Clone, Default, Debug)]
pub(super) struct Devices {
    keys: Vec<DeviceKey>,
    /// Indices into `keys` in ascending order of key.
    sorted: Vec<u32>,
    /// Device of the previous row, mostly also that of the next row.
    last: usize,
}

impl Devices {
    /// Index of a known device.
    pub fn find(&mut self, host: &str, number: u32) -> Option<u32> {
        let is = |key: &DeviceKey| key.number == number && compared(&key.host, host) == Ordering::Equal;
        if !self.keys.get(self.last).is_some_and(is) {
            self.last = self.sorted[self.search(host, number).ok()?] as usize;
        }
        Some(self.last as u32)
    }

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

    /// All devices with their indices, in ascending order of host and number.
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

/// Order of two host names. Empty names (most formats) skip `memcmp`, which takes hundreds of cycles for zero bytes
/// at a dangling address.
#[inline]
fn compared(a: &str, b: &str) -> Ordering {
    if a.is_empty() || b.is_empty() { a.len().cmp(&b.len()) } else { a.cmp(b) }
}
