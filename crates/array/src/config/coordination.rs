//! Reads how the drives of an array keep out of one another's way.

use interpulse_drive::spec::DriveSpec;
use interpulse_drive::spec::Impossible;
use interpulse_engine::Duration;
use interpulse_flash::suspend::{Scheme, SuspendLimits, SuspendPolicy};
use interpulse_settings::{default, keys, optional};

keys! {
    /// How the drives of an array keep out of one another's way; not at all by default. `rebuilds` says whether it has
    /// something to rebuild.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct CoordinationSpec, pub(super) fn read(s, rebuilds: bool) {
        /// drives collect garbage in turn, each for this long; left out, each does when it has to
        pub gc_window: Option<Duration> =
            optional_duration(optional().within(Duration::from_us(100)..=Duration::from_ms(1_000_000))),
        /// a read that would have to wait for garbage collection fails at once and is made up by the other drives
        pub fail_fast: bool = bool(default(false)),
        /// Limits of suspensions while a rebuild runs, in place of those of the drives.
        pub rebuild: Option<RebuildLimits> => {
            let relaxes = rebuilds && s.has("rebuild-suspend");
            s.when(relaxes, "rebuild-rate", |s| RebuildLimits::read(&mut s.section("rebuild-suspend")?))?
        },
    }
}

keys! {
    /// Limits of suspensions while a rebuild runs; those left out stay.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct RebuildLimits, fn read(s) {
        /// most suspensions of a program or an erase while a rebuild runs; left out, as ever
        pub max_suspends: Option<u32> = optional_u32(optional().at_least(1)),
        /// shortest time from resumed pulses to the next stop while a rebuild runs; left out, as ever
        pub min_interval: Option<Duration> = optional_duration(optional().at_most(Duration::from_ms(100_000))),
    }
}

impl RebuildLimits {
    /// The limits that take the place of `own`.
    pub fn over(&self, own: SuspendLimits) -> SuspendLimits {
        SuspendLimits {
            max_suspends: own.max_suspends.and(self.max_suspends.or(own.max_suspends)),
            min_interval: self.min_interval.unwrap_or(own.min_interval),
        }
    }
}

impl CoordinationSpec {
    /// Checks what only the drives show.
    pub(super) fn check(&self, drive: &DriveSpec) -> Result<(), Impossible> {
        let turns = self.gc_window.is_some() && drive.ftl.gc.imposes();
        let why = "gc = \"imposed\" follows host programs at once and cannot wait for a turn";
        Impossible::unless(!turns, &["array.gc-window", "ftl.gc"], why)?;
        let Some(limits) = self.rebuild else { return Ok(()) };
        let (program, erase) = (&drive.nand.program_suspend, &drive.nand.erase_suspend);
        let suspended: Vec<&SuspendPolicy> =
            [program, erase].into_iter().filter(|p| p.scheme != Scheme::None).collect();
        let why = "neither programs nor erases are suspended (suspend.program.scheme, suspend.erase.scheme)";
        Impossible::unless(!suspended.is_empty(), &["array.rebuild-suspend", "suspend.program.scheme"], why)?;
        let says = limits.max_suspends.is_some() || limits.min_interval.is_some();
        let why = "it says nothing; expected max-suspends, min-interval or both";
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
