//! Faults of a drive: lets them occur, stalls the firmware, and accounts for stalls.

use super::Drive;
use crate::ftl::{Flash, Ftl};
use crate::spec::{DriveSpec, FaultKind, Stalled};
use interpulse_engine::account::{Account, Cause};
use interpulse_engine::{Duration, EventQueue, RequestId, ResourceId, SimTime};
use interpulse_flash::DieId;
use interpulse_flash::command::Effect;
use interpulse_flash::nand::Nand;
use interpulse_flash::nand::txn::Txn;

impl Drive {
    fn fault_timer(&self) -> ResourceId {
        self.place.later(Drive::fault_timer_index(&self.spec))
    }

    /// Number of the timer of faults among the later ones, if the configuration has faults.
    pub(super) fn fault_timer_index(spec: &DriveSpec) -> u32 {
        Drive::idle_timer(spec) + u32::from(spec.ftl.slc.is_some())
    }

    /// Arms the timer for the next fault.
    pub(super) fn arm_faults(&mut self, events: &mut EventQueue) {
        let next = self.faults.as_ref().and_then(|of| of.next());
        if let Some(at) = next.filter(|&at| at <= events.horizon()) {
            events.arm(self.fault_timer(), at.max(events.now()));
        }
    }

    /// Lets due faults occur and ends a stall of the firmware.
    pub(super) fn on_fault_timer(&mut self, events: &mut EventQueue) {
        let now = events.now();
        if !self.closed && !self.is_down() {
            loop {
                let read_only = self.ftl.accept_trim().is_err();
                let due = self.faults.as_mut().and_then(|of| of.take_due(now, read_only));
                let Some(fault) = due else { break };
                self.inject(events, fault);
            }
        }
        let of = self.faults.as_mut().expect("the timer of faults");
        if of.held_until <= now {
            let held = std::mem::take(&mut of.held);
            held.into_iter().for_each(|id| self.execute_out_of_line(events, id, Cause::Fault));
        }
        if !self.closed || self.faults.as_ref().is_some_and(|of| !of.held.is_empty()) {
            self.arm_faults(events);
        }
    }

    fn inject(&mut self, events: &mut EventQueue, fault: FaultKind) {
        let now = events.now();
        let FaultKind::Stall(stalled, length) = fault else {
            self.ftl.inject(&mut Flash { nand: &mut self.nand, events }, fault);
            self.drain_ftl(events, None);
            return;
        };
        let of = self.faults.as_mut().expect("a fault occurs");
        of.stalls += 1;
        match stalled {
            Stalled::Die(die) => self.nand.stall_die(events, DieId(die), length),
            Stalled::Channel(channel) => self.nand.stall_channel(events, channel, length),
            Stalled::Drive => of.held_until = of.held_until.max(now + length),
        }
    }

    /// Command `id` is about to be executed: lets faults occur that count commands; true if the firmware stalls.
    #[cold]
    #[inline(never)]
    pub(super) fn meets_fault(&mut self, events: &mut EventQueue, id: RequestId) -> bool {
        while let Some(fault) = self.faults.as_mut().filter(|_| !self.closed).and_then(|of| of.take_counted())
        {
            self.inject(events, fault);
        }
        let now = events.now();
        let of = self.faults.as_mut().expect("the caller has looked");
        of.commands += 1;
        if of.held_until <= now {
            return false;
        }
        of.held.push_back(id);
        self.host.requests.get_mut(id).book(Cause::Firmware, now);
        self.arm_faults(events);
        true
    }

    /// Power is cut: no command waits, and the firmware starts anew.
    pub(super) fn faults_lose_power(&mut self) {
        if let Some(of) = &mut self.faults {
            of.held.clear();
            of.held_until = SimTime::ZERO;
        }
    }

    /// Moves time that a page read or program waited for a stalled die or channel to its cause; it waited since `from`, and
    /// the die was done with it at `to`. Waiting behind other reads of a stalled channel stays with their cause.
    #[cold]
    pub(super) fn account_stalls(nand: &Nand, account: &mut Account, txn: &Txn, from: SimTime, to: SimTime) {
        let [die, channel] = nand.stalled(txn.die, from, to).map(Duration::as_ns);
        // A stalled die counts as idle, and what waits for an idle die as waiting for the bus.
        let die = die.min(account[Cause::Bus as usize]);
        let mut own = 0;
        if txn.kind.command().effect == Effect::Reads {
            own = nand.transfer_time(txn).as_ns();
        }
        let channel = channel.min(account[Cause::Bus as usize].saturating_sub(die + own));
        account[Cause::Bus as usize] -= die + channel;
        account[Cause::Fault as usize] += die + channel;
    }
}
