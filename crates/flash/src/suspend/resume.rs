//! When a suspended operation goes on.

use interpulse_engine::Duration;

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
    /// Name and one line of documentation of each, in the order of the variants.
    pub const ALL: &'static [(&'static str, &'static str)] = &[
        ("drained", "nothing waits that may preempt it"),
        ("batch", "what waited at the stop has been served"),
        ("timer", "`resume-after` has passed since the suspension was entered, whatever waits"),
    ];
}
