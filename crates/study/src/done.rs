//! What the drives of a run have done since its start.

use crate::simulated::Simulated;
use interpulse_drive::ftl::FtlCounters;
use interpulse_engine::SimTime;
use interpulse_flash::command::USES;
use interpulse_flash::nand::NandCounters;

/// Counts of all drives.
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
    device.drives().iter().for_each(|drive| sum.add(&drive.tables().counters));
    sum
}
