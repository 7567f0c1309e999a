//! When a suspended operation goes on.

use interpulse_engine::Duration;
use interpulse_settings::{Row, required};

/// Starblaze's WHEN (FMS, slide "Challenges in implementation").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResumeWhen {
    /// Nothing waits that may preempt the operation.
    Drained,
    /// What waited at the stop has been served; what came later waits for the next stop.
    Batch,
    /// This long after the suspension has been entered, whatever waits; what is under way is finished first. Until
    /// then the die stays suspended even if nothing waits.
    Timer(Duration),
}

impl ResumeWhen {
    /// What the configuration reads.
    pub const ROWS: &'static [Row<ResumeWhen>] = &[
        Row { name: "drained", doc: "nothing waits that may preempt it", read: |_| Ok(ResumeWhen::Drained) },
        Row {
            name: "batch",
            doc: "what waited at the stop has been served",
            read: |_| Ok(ResumeWhen::Batch),
        },
        Row {
            name: "timer",
            doc: "`resume-after` has passed since the suspension was entered, whatever waits",
            read: |s| {
                let doc = "how long it stays suspended, counted from when the die can be read";
                let range = required().positive().at_most(Duration::from_ms(100_000));
                Ok(ResumeWhen::Timer(s.duration("resume-after", doc, range)?))
            },
        },
    ];
}
