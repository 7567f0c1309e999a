//! `sliced`: programs and erases in slices, for parts that cannot suspend (US 9,892,794, claim 1). Before each slice the
//! controller writes an instruction and trim values into the registers of the die, which applies so many pulses; reads that
//! wait at the end of a slice are served before the next one. The time of a command is not published.

pub use super::slices::Sliced;
use super::{Stop, StopRequest, SuspendScheme};
use interpulse_engine::Duration;

impl SuspendScheme for Sliced {
    #[inline]
    fn stop(&self, request: &StopRequest) -> Option<Stop> {
        let op = request.op;
        // A slice that ends at this instant has not been commanded.
        let ended = !op.committed && self.ends_at(op.train, op.elapsed);
        let after = if ended { Duration::ZERO } else { self.end(op.train, op.elapsed) - op.elapsed };
        let keeps = op.elapsed + after;
        Some(Stop { after, keeps, entry: Duration::ZERO, resume: self.overhead })
    }

    fn slices(&self) -> Option<&Sliced> {
        Some(self)
    }
}
