//! Power cut and recovery of a drive.
//!
//! ```text
//! on -- cut --> off -- power --> mounting -- map --> refilling -- cache empty --> on
//! ```
//!
//! A cut ends all transactions. The map is rebuilt from flash alone ([`crate::ftl::page::power_loss::outage`]) and compared
//! with the live one; a difference is a bug and ends the run. *Mounting* is the time of these reads. *Refilling* programs
//! the content of a protected cache and repeats interrupted erases as ordinary operations; then the drive serves the host
//! again.

use super::Drive;
use super::hold_up::DieOperations;
use super::power_state::{Cut, CutWrite, Outage, Recovery, State};
use crate::ftl::{Flash, Ftl};
use crate::spec::PowerLossSpec;
use interpulse_engine::{DeviceEvent, EventQueue, OpClass, ResourceId, SimTime};

impl Drive {
    fn power_timer(&self) -> ResourceId {
        self.place.later(u32::from(self.spec.refreshes()))
    }

    fn power(&mut self) -> &mut Outage {
        self.outage.as_mut().expect("power may be lost")
    }

    pub(super) fn arm_cut(&mut self, events: &mut EventQueue) -> Result<(), String> {
        let Some(PowerLossSpec { at: Some(at), off_for, .. }) = self.outage.as_ref().map(|of| of.spec) else {
            return Ok(());
        };
        if SimTime::ZERO + at + off_for > events.horizon() {
            let most = events.horizon();
            return Err(format!(
                "power-loss.at = {at} and off-for together are later than the {most} that a drive of this size can simulate"
            ));
        }
        events.arm(self.power_timer(), SimTime::ZERO + at);
        Ok(())
    }

    /// Whether power is off, or the drive recovers.
    #[inline]
    pub fn is_down(&self) -> bool {
        self.outage.as_ref().is_some_and(|of| of.state != State::On)
    }

    /// Requests that were outstanding when power was cut.
    pub fn requests_lost(&self) -> u64 {
        self.outage.as_ref().map_or(0, |of| of.requests_lost)
    }

    /// Cuts so far and their recoveries.
    pub fn recoveries(&self) -> &[Recovery] {
        self.outage.as_ref().map_or(&[], |of| &of.cuts)
    }

    /// Timer of the cut, or of the end of mounting.
    pub(super) fn on_power_timer(&mut self, events: &mut EventQueue) {
        let state = self.power().state;
        match state {
            State::On if !self.closed => {
                self.cut_power(events);
                let off_for = self.power().spec.off_for;
                self.power_up(events, events.now() + off_for);
            }
            State::Mounting => self.mounted(events),
            State::On | State::Off | State::Refilling => {}
        }
    }

    /// Cuts power now; it stays off until [`Drive::power_up`]. Panics if the drive's spec has no
    /// [`crate::spec::PowerLossSpec`], or if recovery would lose durable data.
    pub fn cut_power(&mut self, events: &mut EventQueue) -> Cut {
        let was = self.power().state;
        assert!(matches!(was, State::On | State::Refilling), "power is already off");
        let on_dies = self.spec.cache.protected.then(|| DieOperations::of(&self.nand, events.now()));
        let torn = self.nand.outage(events, self.spec.cache.protected);
        let requests = self.requests_by_kind();
        let (protected, decode) = (self.spec.cache.protected, self.spec.nand.ecc_latency);
        let flash = Flash { nand: &mut self.nand, events };
        let (found, fates) = self.ftl.lose_power(&flash, torn, protected, decode);
        let hold_up = on_dies.map(|at_cut| at_cut.hold_up(&self.spec, found.cache_pages));
        let recovery = Recovery { at: events.now(), requests, hold_up, found, on: None, served: None };
        let writes = fates.into_iter().map(|(id, units)| CutWrite {
            id,
            survived: units.into_iter().filter(|u| u.1).map(|u| u.0).collect(),
        });
        let writes = writes.collect();
        self.forget_requests(events);
        let power = self.power();
        power.state = State::Off;
        power.requests_lost += requests.iter().sum::<u64>();
        power.cuts.push(recovery);
        Cut { writes, losses: found.losses }
    }

    fn requests_by_kind(&self) -> [u64; 3] {
        let mut requests = [0; 3];
        for (op, _) in self.host.all_outstanding() {
            requests[match op.class() {
                OpClass::Read => 0,
                OpClass::Write => 1,
                OpClass::Other => 2,
            }] += 1;
        }
        requests
    }

    fn forget_requests(&mut self, events: &mut EventQueue) {
        let (first, unit) = (self.place.lines(), self.spec.geometry.unit_bytes);
        self.host.lose_power(&self.spec.host, unit, first);
        self.faults_lose_power();
        for k in 0..Drive::resources(&self.spec, self.place.host_timers) - self.place.flash {
            events.disarm(ResourceId(first.0 + k));
        }
    }

    /// Restores power at `on`. The drive mounts, then flushes its cache, then serves the host.
    pub fn power_up(&mut self, events: &mut EventQueue, on: SimTime) {
        let timer = self.power_timer();
        let power = self.power();
        assert_eq!(power.state, State::Off, "power is already on");
        power.state = State::Mounting;
        let recovery = power.last();
        recovery.on = Some(on);
        events.arm(timer, on + recovery.found.mounting);
    }

    /// Ends mounting: erases blocks that need it and flushes the cache.
    fn mounted(&mut self, events: &mut EventQueue) {
        self.power().state = State::Refilling;
        self.ftl.refill(&mut Flash { nand: &mut self.nand, events });
        self.room_in_cache(events);
    }

    /// Ends refilling: the drive serves the host again.
    pub(super) fn refilled(&mut self, events: &mut EventQueue) {
        let now = events.now();
        let power = self.power();
        power.state = State::On;
        power.last().served = Some(now);
        self.host.notify(DeviceEvent::PowerRestored);
        self.ftl.start(&mut Flash { nand: &mut self.nand, events });
        self.arm_faults(events);
    }
}
