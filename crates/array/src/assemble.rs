//! Puts an array together from its description, and drives it as one device.

use crate::array::{Array, ArrayCounters, OWN_RESOURCES};
use crate::config::ArraySpec;
use crate::contents::Audited;
use crate::layout::Layout;
use crate::updates::Updates;
use interpulse_drive::drive::stats::WindowStats;
use interpulse_drive::drive::verify::AuditReport;
use interpulse_drive::drive::{Drive, PreconditionedState};
use interpulse_drive::simulated::Simulated;
use interpulse_drive::spec::DriveSpec;
use interpulse_engine::random::mix;
use interpulse_engine::{Agenda, ResourceId, SimTime, Streams};
use interpulse_flash::geometry::UNIT_BYTES;
use interpulse_workload::{Flow, FlowSpec, TraceSummary, WorkloadError};

/// The seed of drive `d`: that of the array, and another one for each drive after the first.
fn seed_of(seed: u64, d: u32) -> u64 {
    if d == 0 { seed } else { mix(seed ^ mix(u64::from(d))) }
}

impl Array {
    /// The array that `spec` makes of drives like `drive`, offered the load of `flows`, and the agenda for it. All drives
    /// start from `state`, but for those that take lost ones' places, which are new. Both specs have been checked.
    pub fn assemble(
        spec: ArraySpec,
        drive: &DriveSpec,
        flows: &[FlowSpec],
        state: PreconditionedState,
        seed: u64,
    ) -> Result<(Array, Agenda), WorkloadError> {
        let checked = "the spec has been checked";
        let layout = Layout {
            level: spec.level,
            drives: spec.drives,
            chunk: (spec.chunk.get() / UNIT_BYTES) as u32,
            rows: spec.units_per_drive(drive).expect(checked),
        };
        let per_drive = Drive::resources(drive, 0);
        let mut drives = Vec::new();
        for d in 0..spec.drives_simulated() {
            let state = if d < spec.drives {
                state.clone()
            } else {
                let streams = Streams::new(seed_of(seed, d));
                let ftl = drive.fresh_ftl(streams.stream("replacement", 0)).expect(checked);
                PreconditionedState { ftl }
            };
            let first = ResourceId(d * per_drive);
            drives.push(Drive::owned(drive.clone(), state, seed_of(seed, d), first)?);
        }
        let streams = Streams::new(seed);
        let capacity = spec.capacity_sectors(drive).expect(checked);
        let running: Result<Vec<Flow>, _> =
            (0..).zip(flows).map(|(i, flow)| Flow::new(flow, capacity, &streams, i)).collect();
        let resources = per_drive * spec.drives_simulated() + OWN_RESOURCES + flows.len() as u32;
        let mut array = Array::new(spec, layout, drives, per_drive, running?, drive.audit_sample);
        if spec.follow_updates {
            let pages = (drive.part.page_size.get() / UNIT_BYTES) as u32;
            array.updates = Some(Box::new(Updates::new(
                pages,
                spec.stripe_heads / spec.heads_per_stripe,
                spec.heads_per_stripe,
            )));
        }
        Ok((array, Agenda::new(resources)))
    }

    /// What the array did in the window that has ended.
    pub fn measured(&self) -> &ArrayCounters {
        &self.measured
    }

    /// What each drive measured in the window that has ended.
    pub fn drive_windows(&self) -> &[WindowStats] {
        &self.drive_windows
    }

    /// Names of the flows, in order.
    pub fn flow_names(&self) -> impl Iterator<Item = &str> {
        self.flows.iter().map(|f| f.flow.name())
    }

    /// What the first reading of each replayed trace found.
    pub fn trace_summaries(&self) -> Vec<TraceSummary> {
        self.flows.iter().filter_map(|f| f.flow.trace_summary().cloned()).collect()
    }

    /// Checks the followed pages; see [`interpulse_array::contents::Contents::audit`].
    pub fn audit_contents(&self) -> Result<Audited, String> {
        self.contents.audit(|row| self.readable(row))
    }
}

impl Simulated for Array {
    fn drives(&self) -> &[Drive] {
        &self.drives
    }
    fn drives_mut(&mut self) -> &mut [Drive] {
        &mut self.drives
    }
    fn start(&mut self, agenda: &mut Agenda) {
        self.begin(agenda);
    }
    #[inline]
    fn handle(&mut self, agenda: &mut Agenda, resource: ResourceId) {
        self.on_event(agenda, resource);
    }
    fn outstanding(&self) -> usize {
        self.unfinished()
    }
    fn completed(&self) -> u64 {
        self.issued_and_completed().1
    }
    fn exhausted(&self) -> bool {
        self.is_exhausted()
    }
    fn failure(&self) -> Option<&str> {
        self.why_failed().or_else(|| self.drives.iter().find_map(Drive::failure))
    }
    fn close(&mut self) {
        self.closed = true;
        self.drives.iter_mut().for_each(Drive::close);
    }
    fn reset_window(&mut self) {
        self.begin_window();
    }
    fn end_window(&mut self, now: SimTime) -> WindowStats {
        self.close_window(now)
    }
    fn audit(&self, now: SimTime, stride: usize) -> Result<AuditReport, String> {
        let (issued, completed) = self.issued_and_completed();
        if issued != completed {
            return Err(format!("{issued} requests issued to the array, {completed} completed"));
        }
        let mut report =
            AuditReport { requests: completed, mapped_units: 0, versions_checked: self.contents.checked };
        for (d, drive) in self.drives.iter().enumerate() {
            let of = drive.audit(now, stride).map_err(|why| format!("drive {d}: {why}"))?;
            report.mapped_units += of.mapped_units;
            report.versions_checked += of.versions_checked;
        }
        self.audit_contents()?;
        Ok(report)
    }
    fn diagnosis(&self, agenda: &Agenda) -> String {
        self.standing(agenda)
    }
}
