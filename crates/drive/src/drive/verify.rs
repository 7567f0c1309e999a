//! Audits at the end of a run, and the diagnosis of a run that cannot continue.

use super::Drive;
use crate::ftl::Ftl;
use interpulse_engine::{AuditReport, EventQueue, SimTime};
use std::fmt::Write;

impl Drive {
    /// Checks after the last request that nothing was lost: issued = completed, and the FTL's audit (one entry in
    /// `stride`). Err is the first inconsistency.
    pub(super) fn verify(&self, now: SimTime, stride: usize) -> Result<AuditReport, String> {
        let lost = self.requests_lost();
        if self.host.issued != self.host.completed + lost {
            let (issued, completed) = (self.host.issued, self.host.completed);
            return Err(format!("{issued} requests issued, {completed} completed, {lost} lost with power"));
        }
        let lists = self.vectors.in_use();
        if lists > 0 {
            return Err(format!("{lists} lists of addresses of vector commands are left"));
        }
        let mapped = self.ftl.audit(stride)?;
        if let Some(cache) = &self.read_cache {
            cache.audit(|lpn| self.ftl.version(lpn))?;
        }
        for (d, die) in self.nand.dies().iter().enumerate() {
            let sum: u64 = die.usage.uses().iter().sum();
            if sum > now.as_ns() {
                return Err(format!("die {d} was busy for {sum} ns of {} ns", now.as_ns()));
            }
        }
        Ok(AuditReport {
            requests: self.host.completed,
            mapped_units: mapped,
            versions_checked: self.ftl.versions_checked(),
        })
    }

    /// Audits a read of every logical unit.
    pub fn read_everything(&mut self) {
        self.ftl.read_everything();
    }

    /// Describes a drive with outstanding requests and no pending events.
    pub(super) fn diagnosis_of(&self, events: &EventQueue) -> String {
        let cache = self.ftl.cache_use();
        let mut text = format!(
            "at {} nothing is going to happen, yet {} requests are outstanding: ",
            events.now(),
            self.host.outstanding()
        );
        let _ = write!(
            text,
            "{} not fetched, {} in the controller, {} writes waiting for the cache, {} flushes; cache: {} free, {} \
             dirty, {} being programmed; flash array: {} transactions",
            self.host.queues.unfetched(),
            self.host.queues.in_controller(),
            self.host.stalled.len(),
            self.ftl.flushes(),
            cache.free,
            cache.dirty,
            cache.in_flight,
            self.nand.pending()
        );
        let _ = write!(text, "; {}", self.ftl.diagnosis());
        for (id, r) in self.host.requests.iter().take(5) {
            let _ = write!(
                text,
                "\n  request {id}: {:?} of {} units at unit {}, submitted at {}, {} flash reads left, {} units admitted",
                r.op, r.units, r.lpn, r.submitted, r.reads_left, r.admitted
            );
        }
        text
    }
}
