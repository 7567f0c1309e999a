//! Runs cases with an array: the drives, the array over them, the run, the result.

use crate::array::{Array, OWN_RESOURCES};
use crate::contents::Audited;
use crate::layout::Layout;
use crate::report;
use crate::updates::Updates;
use interpulse_drive::config::Case;
use interpulse_drive::drive::stats::WindowStats;
use interpulse_drive::drive::verify::AuditReport;
use interpulse_drive::drive::{Drive, PreconditionedState};
use interpulse_drive::run::{self, RunFailure, Simulated};
use interpulse_drive::runner::{Control, Plan, RunError, RunOptions};
use interpulse_engine::random::mix;
use interpulse_engine::{Agenda, Duration, ResourceId, SimTime, Streams};
use interpulse_flash::geometry::UNIT_BYTES;
use interpulse_workload::Flow;
use serde_json::Value;

/// Runs all cases of a plan, those with an array included; see [`interpulse_drive::runner::run`].
pub fn run(plan: &Plan, options: &RunOptions, control: &Control) -> Result<String, RunError> {
    interpulse_drive::runner::run_with_arrays(plan, options, control, run_case)
}

/// The seed of drive `d`: that of the case, and another one for each drive after the first.
fn seed_of(case: &Case, d: u32) -> u64 {
    if d == 0 { case.seed } else { mix(case.seed ^ mix(u64::from(d))) }
}

/// The array of a case, and the agenda for it. All drives start from `state`, but for those that take lost ones'
/// places, which are new.
pub fn build(case: &Case, state: PreconditionedState) -> Result<(Array, Agenda), RunFailure> {
    let spec = case.array.expect("the case has an array");
    let checked = "the spec has been checked";
    let user = |e: interpulse_workload::WorkloadError| RunFailure::User(e.to_string());
    let layout = Layout {
        level: spec.level,
        drives: spec.drives,
        chunk: (spec.chunk.get() / UNIT_BYTES) as u32,
        rows: spec.units_per_drive(&case.drive).expect(checked),
    };
    let per_drive = Drive::resources(&case.drive, 0);
    let mut drives = Vec::new();
    for d in 0..spec.drives_simulated() {
        let state = if d < spec.drives {
            state.clone()
        } else {
            let streams = Streams::new(seed_of(case, d));
            PreconditionedState {
                ftl: case.drive.fresh_ftl(streams.stream("replacement", 0)).expect(checked),
            }
        };
        let first = ResourceId(d * per_drive);
        drives.push(Drive::owned(case.drive.clone(), state, seed_of(case, d), first).map_err(user)?);
    }
    let streams = Streams::new(case.seed);
    let flows: Result<Vec<Flow>, _> = (0..)
        .zip(&case.flows)
        .map(|(i, flow)| Flow::new(flow, case.capacity_sectors(), &streams, i))
        .collect();
    let resources = per_drive * spec.drives_simulated() + OWN_RESOURCES + case.flows.len() as u32;
    let mut array =
        Array::new(spec, layout, drives, per_drive, flows.map_err(user)?, case.drive.audit_sample);
    if spec.follow_updates {
        let pages = (case.drive.part.page_size.get() / UNIT_BYTES) as u32;
        array.updates = Some(Box::new(Updates::new(
            pages,
            spec.stripe_heads / spec.heads_per_stripe,
            spec.heads_per_stripe,
        )));
    }
    Ok((array, Agenda::new(resources)))
}

/// Runs one case.
pub fn run_case(
    case: &Case,
    state: PreconditionedState,
    progress: &mut dyn FnMut(u64, Duration) -> bool,
) -> Result<Value, RunFailure> {
    let spec = case.array.expect("the case has an array");
    let (mut array, mut agenda) = build(case, state)?;
    if let Some(failure) =
        spec.failures.into_iter().flatten().find(|f| SimTime::ZERO + f.at > agenda.horizon())
    {
        return Err(RunFailure::User(format!(
            "array.fail-at = {} is later than the {} that an array of this size can simulate",
            failure.at,
            agenda.horizon()
        )));
    }
    let cut = case.drive.power_loss.and_then(|spec| Some((spec.at?, spec.off_for)));
    if let Some((at, _)) = cut.filter(|&(at, off)| SimTime::ZERO + at + off > agenda.horizon()) {
        return Err(RunFailure::User(format!(
            "power-loss.at = {at} and off-for together are later than the {} that an array of this size can simulate",
            agenda.horizon()
        )));
    }
    let measured = run::run(&mut array, &mut agenda, &case.run, progress)?;
    Ok(report::result(case, &array, &measured))
}

impl Array {
    /// Checks the followed pages; see [`crate::contents::Contents::audit`].
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
