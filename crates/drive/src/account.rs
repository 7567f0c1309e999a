//! Why a request took as long as it did: every nanosecond of its latency has one cause.

use interpulse_engine::Duration;
use interpulse_flash::die::usage::WAITS;
use interpulse_flash::nand::txn::Txn;

/// The causes; the first [`WAITS`] are those of [`interpulse_flash::die::usage::Wait`], in its order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum Cause {
    /// Behind other host reads at the die.
    HostReads,
    /// Behind programs of host data.
    Programs,
    /// Behind erases.
    Erases,
    /// Behind garbage collection's reads and programs.
    Gc,
    /// For a program or erase to reach a legal stop.
    Stop,
    /// For a suspension to be entered or left.
    Suspend,
    /// For the channel, and moving on it.
    Bus,
    /// Sensing.
    Sensing,
    /// ECC decode.
    Decode,
    /// The write cache: waiting for a free slot, and DRAM.
    Cache,
    /// For the PCIe link, and moving on it.
    Link,
    /// The controller's firmware.
    Firmware,
    /// In the host's submission queue, before the controller fetched it.
    Queue,
    /// Programming the write's own data, for writes that are complete when that is on flash.
    OwnProgram,
}

/// Number of causes.
pub const CAUSES: usize = 14;

/// Name and one line of documentation of each cause, in order.
pub const CAUSE_INFO: [(&str, &str); CAUSES] = [
    ("host_reads", "waiting for the die behind other host reads"),
    ("programs", "waiting for the die behind programs of host data"),
    ("erases", "waiting for the die behind erases"),
    ("gc", "waiting for the die behind reads and programs of garbage collection"),
    ("stop", "waiting for a program or erase to reach a legal stop"),
    ("suspend", "waiting for a suspension to be entered or left"),
    ("bus", "waiting for the channel and moving on it"),
    ("sensing", "sensing the flash array"),
    ("decode", "ECC decode"),
    ("cache", "waiting for a slot of the write cache, and its DRAM"),
    ("link", "waiting for the PCIe link and moving on it"),
    ("firmware", "firmware time of the command"),
    ("queue", "in the submission queue before the controller fetched it"),
    ("own_program", "loading and programming the write's own data (cache.acknowledge = \"when-programmed\")"),
];

/// One request's account: ns by [`Cause`].
pub type Account = [u64; CAUSES];

/// Copies the flash part of an account.
#[inline]
pub fn book_flash(account: &mut Account, waits: &[u64; WAITS]) {
    account[..WAITS].copy_from_slice(waits);
}

/// Adds the account of a program from its submission to its completion.
#[inline]
pub fn book_program(account: &mut Account, txn: &Txn) {
    for (to, wait) in account.iter_mut().zip(&txn.waits) {
        *to += wait;
    }
    account[Cause::OwnProgram as usize] += txn.own;
}

/// Log-spaced latency classes (eight per power of two) with the sums of their requests' accounts, so that the
/// mean and any tail can be split by cause after the run.
#[derive(Clone)]
pub struct Blame {
    rows: Vec<Row>,
}

#[derive(Clone, Copy, Default)]
struct Row {
    count: u64,
    sums: Account,
}

const CLASSES: usize = 64 * 8;

impl Default for Blame {
    fn default() -> Self {
        Blame { rows: vec![Row::default(); CLASSES] }
    }
}

impl Blame {
    /// Adds a request of this latency. Panics if the account does not add up to the latency.
    #[inline]
    pub fn add(&mut self, latency: Duration, account: &Account) {
        let sum: u64 = account.iter().sum();
        assert_eq!(sum, latency.as_ns(), "account {account:?} does not add up to the latency");
        let row = &mut self.rows[class(latency.as_ns())];
        row.count += 1;
        for (to, part) in row.sums.iter_mut().zip(account) {
            *to += part;
        }
    }

    /// Requests added and the sums by cause, in ns.
    pub fn total(&self) -> (u64, [u128; CAUSES]) {
        let mut sums = [0u128; CAUSES];
        let mut count = 0;
        for row in &self.rows {
            count += row.count;
            for (to, part) in sums.iter_mut().zip(&row.sums) {
                *to += u128::from(*part);
            }
        }
        (count, sums)
    }
}

/// The class of a latency: its power of two and the three bits below.
#[inline]
fn class(ns: u64) -> usize {
    let v = ns | 8;
    let power = 63 - v.leading_zeros() as usize;
    power * 8 + ((v >> (power - 3)) & 7) as usize
}
