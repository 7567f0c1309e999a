//! Reads other than page reads: they follow the steps of their row up to the sensing or the data out.

use super::Nand;
use super::channel::Transfer;
use super::power::budget::Next;
use super::txn::Txn;
use crate::command::Step;
use crate::die::State;
use crate::ids::TxnId;
use interpulse_engine::{EventQueue, SimTime};

impl Nand {
    /// The die starts a read by the steps of its row.
    #[cold]
    #[inline(never)]
    pub(super) fn start_other_read(&mut self, events: &mut EventQueue, now: SimTime, d: usize, id: TxnId) {
        let txn = self.txns.get(id);
        if txn.is_retry() {
            self.start_sequence(events, now, d, id);
            return;
        }
        let active = &mut self.contexts[d].active;
        active.reads[0] = id;
        (active.count, active.moved) = (1, 0);
        (active.steps, active.steps_read) = (txn.kind.command().steps, true);
        if self.may_draw(events, now, d, Next::Read) {
            self.next_read_step(events, now, d, now);
        }
    }

    /// The next step of such a read begins at `start`, when its command has ended.
    #[cold]
    #[inline(never)]
    pub(super) fn next_read_step(&mut self, events: &mut EventQueue, now: SimTime, d: usize, start: SimTime) {
        let active = &mut self.contexts[d].active;
        let (step, rest) = active.steps.split_first().expect("a read ends with data out");
        active.steps = rest;
        let id = active.reads[0];
        let txn = *self.txns.get(id);
        let (row, block) = (txn.kind.command(), txn.block);
        match step {
            Step::Command => {
                // The reads that are counted sense as soon as they have the bus.
                active.count = 0;
                self.dies[d].go(now, State::Command, row.bus, block);
                self.request_bus(events, now, d, Transfer::Command, self.timing.command);
            }
            Step::Busy(busy) => {
                let usage = if busy.array { row.array } else { row.bus };
                self.be_busy(events, now, d, busy, usage, block, start);
            }
            Step::Sense => {
                (active.count, active.steps_read) = (1, false);
                self.counters.reads_in_suspension += u64::from(self.dies[d].long().is_some());
                self.dies[d].check_read(now, txn.plane.into(), block, txn.page);
                let (sense, array, _) = self.sense_time(d);
                self.dies[d].go(now, State::Sensing, array, block);
                events.arm(self.timer(d), start + sense);
            }
            Step::Out => {
                (active.count, active.steps_read) = (1, false);
                // Without sensing there are no bit errors.
                self.txns.get_mut(id).set(Txn::BUFFERED);
                self.release_power(d);
                self.dies[d].go(now, State::OutWait, row.bus, block);
                self.request_out(events, now, d);
            }
            Step::Load | Step::Pulses | Step::SenseSource => {
                panic!("the table of commands admits {step:?} in no read")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::{Effect, Kind};
    use crate::erase::{EraseMethod, MultiBlock};
    use crate::geometry::Geometry;
    use crate::ids::{BlockId, DieId};
    use crate::nand::NandConfig;
    use crate::nand::channel::ChannelOrder;
    use crate::nand::flow_order::HostOrder;
    use crate::nand::power::PowerConfig;
    use crate::nand::queue::{GcReadRank, Policy};
    use crate::parts::PartSpec;
    use crate::parts::preset;
    use crate::suspend::SuspendPolicy;
    use crate::variation::LongOperations;
    use interpulse_engine::{Duration, ResourceId};

    fn nand() -> (Nand, EventQueue) {
        let document = preset("atc19-ll").expect("a preset");
        let part = PartSpec::read(&mut document.section("part").expect("a part")).expect("a part");
        let config = NandConfig {
            policy: Policy::Fifo,
            gc_reads: GcReadRank::InOrder,
            long_operations: LongOperations::Real,
            erase_method: EraseMethod::Ispe,
            multi_block: MultiBlock::ONE,
            program_suspend: SuspendPolicy::NEVER,
            erase_suspend: SuspendPolicy::NEVER,
            nesting: false,
            multi_plane_reads: false,
            multi_plane_programs: false,
            host_order: HostOrder::Arrival,
            channel_order: ChannelOrder::CommandsFirst,
            power: PowerConfig::default(),
            super_layer: 0,
            ecc_latency: Duration::from_us(1),
            ecc_interval: Duration::from_us(1),
            errors: None,
        };
        let geometry = Geometry::new(1, 1, 1, &part);
        let events = EventQueue::new(Nand::resources(&geometry));
        let mut nand = Nand::new(geometry, &part, config, 1, ResourceId(0));
        nand.dies_mut()[0].blocks_mut().set_programmed(0, BlockId(0), 3);
        (nand, events)
    }

    fn ends(mut nand: Nand, mut events: EventQueue) -> (Nand, u64) {
        while let Some((_, timer)) = events.next(SimTime(u64::MAX >> 8)) {
            nand.on_timer(&mut events, timer.0);
            events.settle();
        }
        assert!(nand.take_ended().is_some() && nand.pending() == 0);
        let now = events.now().as_ns();
        (nand, now)
    }

    /// A page read that follows the steps of its row does the same as on the path of page reads.
    #[test]
    fn the_steps_of_a_page_read_are_those_of_its_path() {
        for kind in Kind::ALL.into_iter().filter(|kind| kind.command().effect == Effect::Reads) {
            let mut txn = Txn::new(kind, DieId(0));
            (txn.block, txn.page) = (BlockId(0), 1);
            txn.set_units(1);
            let (mut nand_a, mut agenda_a) = nand();
            nand_a.submit(&mut agenda_a, txn);
            let (nand_a, end_a) = ends(nand_a, agenda_a);
            let (mut nand_b, mut agenda_b) = nand();
            let id = nand_b.txns.insert(txn);
            nand_b.start_other_read(&mut agenda_b, SimTime::ZERO, 0, id);
            let (nand_b, end_b) = ends(nand_b, agenda_b);
            assert_eq!((end_a, nand_a.counters), (end_b, nand_b.counters));
            assert_eq!(nand_a.dies()[0].usage.times(), nand_b.dies()[0].usage.times());
        }
    }
}
