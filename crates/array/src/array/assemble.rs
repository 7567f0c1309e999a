//! Assembly of an array from its specification.

use crate::array::{Array, ArrayCounters, Traffic};
use crate::config::ArraySpec;
use crate::content_audit::Audited;
use crate::hedging::hedged_reads::HedgedReads;
use crate::stripes::update_statistics::UpdateStatistics;
use interpulse_drive::Drive;
use interpulse_drive::FtlState;
use interpulse_drive::PreconditionedState;
use interpulse_drive::spec::DriveSpec;
use interpulse_engine::random::mix;
use interpulse_engine::{Duration, ResourceId, Streams};
use interpulse_flash::geometry::UNIT_BYTES;
use interpulse_workload::FlowSpec;

/// Seed of drive `d`: the array's seed for the first, derived from it for the others.
fn seed_of(seed: u64, d: u32) -> u64 {
    if d == 0 { seed } else { mix(seed ^ mix(u64::from(d))) }
}

impl Array {
    /// Creates the array with a timer of its host for each of `flows`. All drives start from `state`; replacements are new. Both
    /// specifications must have been checked.
    pub fn assemble(
        spec: ArraySpec,
        drive: &DriveSpec,
        state: PreconditionedState,
        seed: u64,
        flows: &[FlowSpec],
    ) -> Array {
        let checked = "the spec has been checked";
        let layout = spec.layout(drive).expect(checked);
        let mut drive = drive.clone();
        // The array cuts the power of all drives at once.
        let cut_at = drive.power_loss.as_mut().and_then(|spec| spec.at.take());
        let resources_per_drive = Drive::resources(&drive, 0);
        let (mut drives, mut state) = (Vec::new(), Some(state));
        for d in 0..spec.drives_simulated() {
            let state = if d + 1 < spec.drives {
                state.as_ref().map(PreconditionedState::another).expect("the last drive takes the state")
            } else if d < spec.drives {
                state.take().expect("the last drive takes the state")
            } else {
                let streams = Streams::new(seed_of(seed, d));
                let ftl = drive.fresh_ftl(streams.stream("replacement", 0)).expect(checked);
                PreconditionedState::Page(ftl)
            };
            let first = ResourceId(d * resources_per_drive);
            let mut own = drive.clone();
            own.schedule.retain(|fault| fault.drive == d);
            let mut built = Drive::new(own, state, seed_of(seed, d), first, 0);
            built.nand_mut().set_fail_fast_for(spec.coordination.fail_fast_for);
            if let Some(of) = drive.predictable_latency {
                // The non-deterministic windows of the drives follow one another.
                let slot = u64::from(d % spec.drives);
                let offset = of.period().as_ns() * slot / u64::from(spec.drives);
                built.set_window_offset(Duration::from_ns(offset));
            }
            drives.push(built);
        }
        let mut array =
            Array::new(spec, layout, drives, resources_per_drive, flows.len() as u32, drive.audit_sample);
        array.has_windows = drive.predictable_latency.is_some();
        array.hedging = HedgedReads::of(flows);
        array.observes_reads |= array.hedging.is_some();
        array.cut_at = cut_at;
        if spec.follow_updates {
            let pages = (drive.part.page_size.get() / UNIT_BYTES) as u32;
            array.updates = Some(Box::new(UpdateStatistics::new(
                pages,
                spec.stripe_heads / spec.heads_per_stripe,
                spec.heads_per_stripe,
            )));
        }
        array
    }

    /// Whether reads of a flow are hedged.
    pub fn hedges(&self) -> bool {
        self.hedging.is_some()
    }

    /// Array counters of the last measurement window.
    pub fn measured(&self) -> &ArrayCounters {
        &self.measured
    }

    /// Traffic of each drive in the last measurement window.
    pub fn of_drives(&self) -> &[Traffic] {
        &self.of_drives
    }

    /// All drives, replacements included.
    pub fn drives(&self) -> &[Drive] {
        &self.drives
    }

    /// All drives, to collect their statistics.
    pub fn drives_mut(&mut self) -> &mut [Drive] {
        &mut self.drives
    }

    /// Checks the sampled pages; see [`crate::content_audit::ContentAudit::audit`].
    pub fn audit_contents(&self) -> Result<Audited, String> {
        let waits = |row: u32| self.recovery.inconsistent.contains(&row);
        self.contents.audit_before_resync(|row| self.readable(row), waits)
    }
}
