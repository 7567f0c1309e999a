//! Host requests inside the drive.

use crate::account::{Account, CAUSES, Cause};
use interpulse_engine::SimTime;
use interpulse_workload::Op;

/// A request between its submission and its completion.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// What is asked for.
    pub op: Op,
    /// The flow it came from.
    pub flow: u32,
    /// First logical unit.
    pub lpn: u32,
    /// Units touched.
    pub units: u32,
    /// Bytes asked for.
    pub bytes: u64,
    /// Whether the first and the last unit are covered only in part.
    pub partial: [bool; 2],
    /// Flash reads outstanding.
    pub reads_left: u32,
    /// Units admitted to the write cache so far.
    pub admitted: u32,
    /// When the host submitted it.
    pub submitted: SimTime,
    /// Up to when its account is booked.
    pub mark: SimTime,
    /// Where its time went, in ns by cause.
    pub account: Account,
}

impl Request {
    /// Books the time since the last booking on `cause`.
    #[inline]
    pub fn book(&mut self, cause: Cause, now: SimTime) {
        self.account[cause as usize] += now.as_ns() - self.mark.as_ns();
        self.mark = now;
    }
}

/// Requests addressed by index; freed ones are reused.
#[derive(Clone, Default)]
pub struct Requests {
    entries: Vec<Request>,
    free: Vec<u32>,
}

impl Requests {
    /// Stores a request.
    #[inline]
    pub fn insert(&mut self, request: Request) -> u32 {
        match self.free.pop() {
            Some(id) => {
                self.entries[id as usize] = request;
                id
            }
            None => {
                self.entries.push(request);
                self.entries.len() as u32 - 1
            }
        }
    }

    /// Frees a request.
    #[inline]
    pub fn remove(&mut self, id: u32) {
        self.free.push(id);
    }

    /// The request `id`.
    #[inline]
    pub fn get(&self, id: u32) -> &Request {
        &self.entries[id as usize]
    }

    /// The request `id`, to change.
    #[inline]
    pub fn get_mut(&mut self, id: u32) -> &mut Request {
        &mut self.entries[id as usize]
    }

    /// Requests stored now.
    pub fn live(&self) -> usize {
        self.entries.len() - self.free.len()
    }

    /// The stored requests with their numbers, for a diagnosis.
    pub fn iter_live(&self) -> impl Iterator<Item = (u32, &Request)> {
        let free: std::collections::BTreeSet<u32> = self.free.iter().copied().collect();
        self.entries.iter().enumerate().map(|(i, r)| (i as u32, r)).filter(move |(i, _)| !free.contains(i))
    }
}

/// A fresh account.
pub const NO_ACCOUNT: Account = [0; CAUSES];
