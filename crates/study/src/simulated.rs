//! What a run can look into: a drive, or several, and what they have done since its start.

use interpulse_array::array::Array;
use interpulse_drive::drive::Drive;
use interpulse_drive::ftl::FtlCounters;
use interpulse_engine::{Device, SimTime};
use interpulse_flash::command::USES;
use interpulse_flash::nand::NandCounters;

/// A device whose insides are measured: a drive, or several.
pub trait Simulated: Device {
    /// The drives it consists of.
    fn drives(&self) -> &[Drive];
    /// The drives it consists of, to settle their accounts.
    fn drives_mut(&mut self) -> &mut [Drive];
}

impl Simulated for Drive {
    fn drives(&self) -> &[Drive] {
        std::slice::from_ref(self)
    }
    fn drives_mut(&mut self) -> &mut [Drive] {
        std::slice::from_mut(self)
    }
}

impl Simulated for Array {
    fn drives(&self) -> &[Drive] {
        Array::drives(self)
    }
    fn drives_mut(&mut self) -> &mut [Drive] {
        Array::drives_mut(self)
    }
}

/// What all drives have done.
#[derive(Clone, Copy)]
pub struct Done {
    /// What the FTLs did.
    pub ftl: FtlCounters,
    /// Operations and suspensions of the flash.
    pub nand: NandCounters,
    /// Time of all dies by use, in ns.
    pub uses: [u64; USES],
}

impl Done {
    /// What had been done by now.
    pub fn by<D: Simulated>(device: &mut D, now: SimTime) -> Done {
        let mut done = Done { ftl: ftl_of(device), nand: NandCounters::default(), uses: [0; USES] };
        for drive in device.drives_mut() {
            done.nand.add(&drive.nand().counters);
            for die in drive.nand_mut().dies_mut() {
                die.usage.settle(now);
                for (to, from) in done.uses.iter_mut().zip(die.usage.uses()) {
                    *to += from;
                }
            }
        }
        done
    }

    /// What came after `before`.
    pub fn since(&self, before: &Done) -> Done {
        Done {
            ftl: self.ftl.since(&before.ftl),
            nand: self.nand.since(&before.nand),
            uses: std::array::from_fn(|k| self.uses[k] - before.uses[k]),
        }
    }
}

/// What all drives' FTLs have done since the start.
pub fn ftl_of<D: Simulated>(device: &D) -> FtlCounters {
    let mut sum = FtlCounters::default();
    device.drives().iter().for_each(|drive| sum.add(&drive.ftl_counters()));
    sum
}
