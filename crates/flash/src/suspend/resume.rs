//! Resume policy: when a suspended operation continues.

use interpulse_engine::Duration;
use interpulse_settings::{Row, required};

/// When a suspended operation continues: Starblaze's WHEN (FMS, slide "Challenges in implementation").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResumePolicy {
    /// When no operation that may preempt it is waiting.
    Drained,
    /// When all operations that waited at the stop are complete; later arrivals wait for the next stop.
    Batch,
    /// This long after the entry, whether or not operations wait; an operation in flight finishes first.
    Timer(Duration),
}

impl ResumePolicy {
    /// Configuration values.
    pub const ROWS: &'static [Row<ResumePolicy>] = &[
        Row {
            name: "drained",
            doc: "when no operation that may preempt it is waiting",
            read: |_| Ok(ResumePolicy::Drained),
        },
        Row {
            name: "batch",
            doc: "when all operations that waited at the stop are complete",
            read: |_| Ok(ResumePolicy::Batch),
        },
        Row {
            name: "timer",
            doc: "`resume-after` after the suspension was entered, whether or not operations wait",
            read: |s| {
                let doc = "length of the suspension, from when the die accepts reads";
                let range = required().positive().at_most(Duration::from_ms(100_000));
                Ok(ResumePolicy::Timer(s.duration("resume-after", doc, range)?))
            },
        },
    ];
}
