//! Latency account of a request: every nanosecond of the latency has one cause.

use crate::time::Duration;

/// Causes of latency. The first ones are the causes for which a flash operation waits, in the flash array's order.
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
    /// For the link to the host, and moving on it.
    Link,
    /// The controller's firmware, and for a core of it.
    Firmware,
    /// In the host's submission queue, before the controller fetched it.
    Queue,
    /// Programming the write's own data, for writes that are complete when that is on flash.
    OwnProgram,
    /// Read retry: everything after the first failed decode.
    Retry,
    /// A read's die, for a share of the power budget.
    Power,
    /// Waiting for map entries to be read from flash.
    Mapping,
    /// Waiting for a die, a channel or the firmware that a fault stalls.
    Fault,
    /// Waiting for units that another read, or read-ahead, fetches from flash for the read cache.
    ReadCache,
}

/// Number of causes.
pub const CAUSES: usize = 19;

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
    ("cache", "waiting for a slot of the write cache, and the DRAM of write cache and read cache"),
    ("link", "waiting for the link to the host and moving on it"),
    ("firmware", "firmware time of the command, and waiting for a core of it"),
    ("queue", "in the submission queue before the controller fetched it"),
    (
        "own_program",
        "loading and programming the write's own data (cache.acknowledge = \"when-programmed\"), or the padding of a finished zone",
    ),
    ("retry", "repeating a read whose first decode failed: sensings, transfers and decodes beyond the first"),
    ("power", "a read's own wait for a share of the power budget (power.budget)"),
    ("mapping", "waiting for map entries to be read from flash"),
    ("fault", "waiting for a die, a channel or the firmware that a fault stalls"),
    (
        "read_cache",
        "waiting for units that another read, or read-ahead, fetches from flash for the read cache",
    ),
];

/// Latency of one request in ns by [`Cause`].
pub type Account = [u64; CAUSES];

/// An empty account.
pub const NO_ACCOUNT: Account = [0; CAUSES];

/// Panics if the account does not add up to the latency.
#[inline]
pub fn check(latency: Duration, account: &Account) {
    let sum: u64 = account.iter().sum();
    assert_eq!(sum, latency.as_ns(), "account {account:?} does not add up to the latency");
}
