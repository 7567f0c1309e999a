//! Run target: a drive or an array whose drives a run measures.

use interpulse_array::array::{Array, Traffic};
use interpulse_drive::Drive;
use interpulse_drive::{FtlCounters, SlcCounters, SpareSeen};
use interpulse_engine::{Bytes, Device, LatencyHistogram, SimTime};
use interpulse_flash::command::DIE_ACTIVITIES;
use interpulse_flash::nand::NandCounters;

/// A device whose drives are measured.
pub trait RunTarget: Device {
    /// Drives of the device.
    fn drives(&self) -> &[Drive];
    /// Drives of the device, mutable to settle time accounts.
    fn drives_mut(&mut self) -> &mut [Drive];
    /// Load on each drive of an array in the last window; none of a drive on its own.
    fn loads(&self) -> Vec<DriveLoad>;
}

/// Load of an array on one of its drives.
pub struct DriveLoad {
    /// Commands completed.
    pub commands: u64,
    /// Bytes read.
    pub read: Bytes,
    /// Bytes written.
    pub written: Bytes,
    /// Sum of the latencies of the commands, in ns.
    pub latency_ns: u128,
}

impl RunTarget for Drive {
    fn drives(&self) -> &[Drive] {
        std::slice::from_ref(self)
    }
    fn drives_mut(&mut self) -> &mut [Drive] {
        std::slice::from_mut(self)
    }
    fn loads(&self) -> Vec<DriveLoad> {
        Vec::new()
    }
}

impl RunTarget for Array {
    fn drives(&self) -> &[Drive] {
        Array::drives(self)
    }
    fn drives_mut(&mut self) -> &mut [Drive] {
        Array::drives_mut(self)
    }
    fn loads(&self) -> Vec<DriveLoad> {
        let load = |of: &Traffic| DriveLoad {
            commands: of.latencies.count(),
            read: Bytes(of.read_bytes),
            written: Bytes(of.written_bytes),
            latency_ns: [&of.latencies.read, &of.latencies.write, &of.latencies.other]
                .map(LatencyHistogram::sum_ns)
                .iter()
                .sum(),
        };
        self.of_drives().iter().map(load).collect()
    }
}

/// Counters of all drives since the start.
#[derive(Clone, Copy)]
pub struct DeviceCounters {
    /// FTL counters.
    pub ftl: FtlCounters,
    /// Counters of SLC caches.
    pub slc: SlcCounters,
    /// Flash operations and suspensions.
    pub nand: NandCounters,
    /// Time of all dies by use, in ns.
    pub uses: [u64; DIE_ACTIVITIES],
    /// Spare space at the victim choices of garbage collection.
    pub spare: SpareSeen,
}

impl DeviceCounters {
    /// Reads the counters at `now`.
    pub fn read<D: RunTarget>(device: &mut D, now: SimTime) -> DeviceCounters {
        let mut done = DeviceCounters {
            ftl: ftl_counters_of(device),
            slc: SlcCounters::default(),
            nand: NandCounters::default(),
            uses: [0; DIE_ACTIVITIES],
            spare: SpareSeen::default(),
        };
        for drive in device.drives_mut() {
            if let Some(slc) = drive.slc() {
                done.slc.add(&slc.counters);
            }
            done.nand.add(&drive.nand().counters);
            done.spare.add(&drive.spare_seen());
            for die in drive.nand_mut().dies_mut() {
                die.usage.settle(now);
                for (to, from) in done.uses.iter_mut().zip(die.usage.uses()) {
                    *to += from;
                }
            }
        }
        done
    }

    /// Difference to an earlier reading.
    pub fn since(&self, before: &DeviceCounters) -> DeviceCounters {
        DeviceCounters {
            ftl: self.ftl.since(&before.ftl),
            slc: self.slc.since(&before.slc),
            nand: self.nand.since(&before.nand),
            uses: std::array::from_fn(|k| self.uses[k] - before.uses[k]),
            spare: self.spare.since(&before.spare),
        }
    }
}

/// FTL counters of all drives since the start.
pub fn ftl_counters_of<D: RunTarget>(device: &D) -> FtlCounters {
    let mut sum = FtlCounters::default();
    device.drives().iter().for_each(|drive| sum.add(&drive.ftl_counters()));
    sum
}
