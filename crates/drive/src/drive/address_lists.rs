//! Lists of physical addresses of vector commands (Open-Channel SSD).

use crate::host_interface::HostInterface;
use crate::host_interface::request::Request;
use crate::numbers::Lpn;
use interpulse_engine::{Op, Request as HostRequest};

/// Lists of addresses of the vector commands that are outstanding. The first unit of such a command is the number of its list.
#[derive(Default)]
pub(super) struct AddressLists {
    /// In sectors; a free list is empty.
    pub(super) lists: Vec<Vec<u64>>,
    free: Vec<u32>,
    /// Units of the command that is being executed.
    pub(super) units: Vec<Lpn>,
}

impl AddressLists {
    /// Stores a list; returns its number.
    pub(super) fn store(&mut self, addresses: &[u64]) -> Lpn {
        let list = self.free.pop().unwrap_or_else(|| {
            self.lists.push(Vec::new());
            self.lists.len() as u32 - 1
        });
        self.lists[list as usize].extend(addresses);
        Lpn(list)
    }

    /// Takes a list out, which is returned by [`AddressLists::release`]; empty if there is none.
    pub(super) fn take(&mut self, list: Lpn) -> Vec<u64> {
        self.lists.get_mut(list.0 as usize).map(std::mem::take).unwrap_or_default()
    }

    /// Frees a list that was taken out.
    pub(super) fn release(&mut self, list: Lpn, mut addresses: Vec<u64>) {
        addresses.clear();
        if let Some(of) = self.lists.get_mut(list.0 as usize) {
            *of = addresses;
            self.free.push(list.0);
        }
    }

    /// Frees the list of `request`, if it is a vector command.
    pub(super) fn forget(&mut self, request: &Request) {
        if matches!(request.op, Op::Vector(_)) {
            let addresses = self.take(request.lpn);
            self.release(request.lpn, addresses);
        }
    }

    /// `request`, if it is a vector command at the first address of its list.
    pub(super) fn at_address(&self, host: &HostInterface, request: HostRequest) -> HostRequest {
        let Op::Vector(_) = request.op else { return request };
        let list = self.lists.get(host.first_unit(&request).index());
        let first = list.and_then(|of| of.first().copied());
        HostRequest { sector: first.unwrap_or(request.sector), ..request }
    }

    /// Lists in use.
    pub(super) fn in_use(&self) -> usize {
        self.lists.len() - self.free.len()
    }
}
