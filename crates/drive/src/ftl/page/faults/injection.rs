//! Injection of faults into the flash translation layer.

use crate::ftl::flash::Flash;
use crate::ftl::page::mapping::table::Where;
use crate::ftl::page::page_ftl::PageFtl;
use crate::numbers::Lpn;
use crate::spec::FaultKind;
use interpulse_flash::DieId;

impl PageFtl {
    /// Lets a fault occur now.
    pub fn inject(&mut self, flash: &mut Flash, fault: FaultKind) {
        let of = self.injected.as_mut().expect("a configuration with faults");
        match fault {
            FaultKind::Program(die) => of.programs.push(die),
            FaultKind::Erase(die) => of.erases.push(die),
            FaultKind::NextRead(die) => of.reads.push(die),
            FaultKind::Address(at) => {
                let lpn = Lpn((at.get() / self.unit_bytes) as u32);
                if matches!(self.blocks.map().get(lpn), Where::Flash(_)) {
                    of.lost.lose(lpn);
                }
            }
            FaultKind::Die(die) => self.die_fails(flash, DieId(die)),
            FaultKind::Channel(channel) => {
                let geometry = flash.nand.geometry();
                let dies = (0..geometry.dies()).map(DieId).filter(|&die| geometry.channel_of(die) == channel);
                for die in dies.collect::<Vec<_>>() {
                    self.die_fails(flash, die);
                }
            }
            FaultKind::Stall(..) => unreachable!("the FTL does not stall"),
        }
    }
}
