//! Saved state of a device: its submissions, from which the state is computed again.
//!
//! A device is a function of its configuration and its submissions. The file therefore holds the submissions, the instant and
//! the number of polled completions; restoring repeats them. A digest of the completions detects a version of interpulse that
//! simulates otherwise. Layout, in little endian: magic, format version, hash of the configuration, the numbers of `Header`,
//! 56 bytes per submission, checksum of everything before.

use crate::arrivals::Arrival;
use crate::error::Error;
use crate::request::{code_of_op, op_of_code};
use interpulse_engine::{Request, SimTime};
use xxhash_rust::xxh3::xxh3_64;

const MAGIC: [u8; 8] = *b"IPDEVICE";
/// Version of the format; raised when it changes, so that old files are refused.
const FORMAT_VERSION: u32 = 1;
const HEADER: usize = 8 + 4 + 4 + 32 + 5 * 8;
const ENTRY: usize = 56;

/// A device at one instant.
pub struct Journal<'a> {
    /// Hash of the configuration.
    pub config_hash: &'a str,
    /// Simulated time.
    pub now: SimTime,
    /// Completions that the host has polled.
    pub polled: u64,
    /// Completions in all, and their digest.
    pub completed: (u64, u64),
    /// All submissions in order.
    pub submissions: &'a [Arrival],
}

/// What a file holds.
pub struct Saved {
    /// Simulated time.
    pub now: SimTime,
    /// Completions that the host had polled.
    pub polled: u64,
    /// Completions in all, and their digest.
    pub completed: (u64, u64),
    /// All submissions in order.
    pub submissions: Vec<Arrival>,
}

/// The hash as it is stored.
fn hash_bytes(hash: &str) -> [u8; 32] {
    let mut bytes = [0; 32];
    bytes.iter_mut().zip(hash.bytes()).for_each(|(to, from)| *to = from);
    bytes
}

impl Journal<'_> {
    /// The content of the file.
    pub fn bytes(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(HEADER + ENTRY * self.submissions.len() + 8);
        out.extend(MAGIC);
        out.extend(FORMAT_VERSION.to_le_bytes());
        out.extend(0u32.to_le_bytes());
        out.extend(hash_bytes(self.config_hash));
        let numbers =
            [self.now.0, self.polled, self.completed.0, self.completed.1, self.submissions.len() as u64];
        numbers.iter().for_each(|n| out.extend(n.to_le_bytes()));
        for of in self.submissions {
            let Request { op, sector, sectors, handle } = of.request;
            [of.at.0, of.tag, of.cookie, sector].iter().for_each(|n| out.extend(n.to_le_bytes()));
            [sectors, of.queue, of.namespace].iter().for_each(|n| out.extend(n.to_le_bytes()));
            out.extend([code_of_op(op), handle, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        }
        out.extend(xxh3_64(&out).to_le_bytes());
        out
    }
}

/// Reads the state of a device whose configuration has this hash.
pub fn read(bytes: &[u8], config_hash: &str) -> Result<Saved, Error> {
    let refused = |why: String| Error::State(format!("the saved state does not fit: {why}"));
    if bytes.len() < HEADER + 8 || bytes[..8] != MAGIC {
        return Err(refused("it is not a saved device of interpulse".into()));
    }
    let u32_at = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
    let u64_at = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
    let version = u32_at(8);
    if version != FORMAT_VERSION {
        return Err(refused(format!("it has format version {version}, this program reads {FORMAT_VERSION}")));
    }
    let body = bytes.len() - 8;
    let count = u64_at(80);
    let expected = count.checked_mul(ENTRY as u64).and_then(|n| n.checked_add(HEADER as u64));
    if expected != Some(body as u64) || xxh3_64(&bytes[..body]) != u64_at(body) {
        return Err(refused("its length or its checksum is wrong: it is damaged".into()));
    }
    if bytes[16..48] != hash_bytes(config_hash) {
        let seen: String = bytes[16..48].iter().take_while(|&&b| b != 0).map(|&b| char::from(b)).collect();
        return Err(refused(format!(
            "it is of another configuration, whose hash is {seen}; that of this one is {config_hash}"
        )));
    }
    let entry = |k: usize| {
        let at = HEADER + k * ENTRY;
        let op = op_of_code(u32::from(bytes[at + 44]))
            .ok_or_else(|| refused("it has an unknown operation".into()))?;
        let request =
            Request { op, sector: u64_at(at + 24), sectors: u32_at(at + 32), handle: bytes[at + 45] };
        Ok(Arrival {
            at: SimTime(u64_at(at)),
            tag: u64_at(at + 8),
            cookie: u64_at(at + 16),
            request,
            queue: u32_at(at + 36),
            namespace: u32_at(at + 40),
        })
    };
    Ok(Saved {
        now: SimTime(u64_at(48)),
        polled: u64_at(56),
        completed: (u64_at(64), u64_at(72)),
        submissions: (0..count as usize).map(entry).collect::<Result<_, Error>>()?,
    })
}
