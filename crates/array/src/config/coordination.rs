//! Coordination of the drives of an array: GC windows, fail-fast reads, suspend limits during a rebuild.

use interpulse_drive::spec::DriveSpec;
use interpulse_drive::spec::Impossible;
use interpulse_engine::Duration;
use interpulse_flash::nand::FailFastFor;
use interpulse_flash::suspend::{Scheme, SuspendLimits, SuspendPolicy};
use interpulse_settings::{Section, default, keys, optional};

keys! {
    /// Coordination of the drives; none by default. `rebuilds`: the array has a rebuild rate.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct CoordinationSpec, pub(crate) fn read(s, rebuilds: bool) {
        /// length of the GC window, in which one drive after the other collects garbage; left out, drives collect when they
        /// have to
        pub gc_window: Option<Duration> =
            optional_duration(optional().within(Duration::from_us(100)..=Duration::from_ms(1_000_000))),
        /// a read that would have to wait for garbage collection fails at once and is reconstructed from the other drives
        pub fail_fast: bool = bool(default(false)),
        /// What a fail-fast read does not wait for.
        pub fail_fast_for: FailFastFor => {
            let doc = "what a fail-fast read does not wait for; under any-operation the reads that reconstruct it fail fast, too";
            let read = |s: &mut Section| s.choice("fail-fast-for", doc, Some("collection"), FailFastFor::ALL);
            s.when(fail_fast, "fail-fast = true", read)?.unwrap_or_default()
        },
        /// Suspend limits during a rebuild, instead of those of the drives.
        pub rebuild: Option<RebuildLimits> => {
            let relaxes = rebuilds && s.has("rebuild-suspend");
            s.when(relaxes, "rebuild-rate", |s| RebuildLimits::read(&mut s.section("rebuild-suspend")?))?
        },
    }
}

keys! {
    /// Suspend limits during a rebuild; omitted limits keep their value.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct RebuildLimits, fn read(s) {
        /// maximum suspensions of a program or an erase during a rebuild; left out, unchanged
        pub max_suspends: Option<u32> = optional_u32(optional().at_least(1)),
        /// minimum time from resumed pulses to the next stop during a rebuild; left out, unchanged
        pub min_interval: Option<Duration> = optional_duration(optional().at_most(Duration::from_ms(100_000))),
    }
}

impl RebuildLimits {
    /// Effective limits for drives with the limits `own`.
    pub fn over(&self, own: SuspendLimits) -> SuspendLimits {
        SuspendLimits {
            max_suspends: own.max_suspends.and(self.max_suspends.or(own.max_suspends)),
            min_interval: self.min_interval.unwrap_or(own.min_interval),
        }
    }
}

impl CoordinationSpec {
    /// Whether reads of pages from which a fast-failed one is reconstructed fail fast, too. During collection alone GC windows keep
    /// the other drives free.
    pub(crate) fn sources_fail_fast(&self) -> bool {
        self.fail_fast_for == FailFastFor::AnyOperation
    }

    /// Checks the coordination against the drive.
    pub(crate) fn check(&self, drive: &DriveSpec) -> Result<(), Impossible> {
        let windows = self.gc_window.is_some() && drive.ftl.gc.imposes();
        let why = "gc = \"imposed\" follows host programs at once and cannot wait for a GC window";
        Impossible::unless(!windows, &["array.gc-window", "ftl.gc"], why)?;
        let Some(limits) = self.rebuild else { return Ok(()) };
        let (program, erase) = (&drive.nand.program_suspend, &drive.nand.erase_suspend);
        let suspended: Vec<&SuspendPolicy> =
            [program, erase].into_iter().filter(|p| p.scheme != Scheme::None).collect();
        let why = "neither programs nor erases are suspended (suspend.program.scheme, suspend.erase.scheme)";
        Impossible::unless(!suspended.is_empty(), &["array.rebuild-suspend", "suspend.program.scheme"], why)?;
        let says = limits.max_suspends.is_some() || limits.min_interval.is_some();
        let why = "the section is empty; expected max-suspends, min-interval or both";
        Impossible::unless(says, &["array.rebuild-suspend"], why)?;
        for policy in suspended {
            let (own, then) = (policy.limits(), limits.over(policy.limits()));
            if then.max_suspends < own.max_suspends {
                let why = format!(
                    "seen {}, fewer than the {} of suspend.program or suspend.erase; a rebuild relaxes limits",
                    then.max_suspends.unwrap_or(0),
                    own.max_suspends.unwrap_or(0)
                );
                return Err(Impossible::new(&["array.rebuild-suspend.max-suspends"], why));
            }
            if then.min_interval > own.min_interval {
                let why = format!(
                    "seen {}, longer than the {} of suspend.program or suspend.erase; a rebuild relaxes limits",
                    then.min_interval, own.min_interval
                );
                return Err(Impossible::new(&["array.rebuild-suspend.min-interval"], why));
            }
        }
        Ok(())
    }
}
