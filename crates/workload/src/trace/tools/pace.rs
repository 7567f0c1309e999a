//! Change of the request rate of a trace.

use super::outcome::{Overview, RewriteError};
use crate::trace::limits::SPAN_NS_MAX;
use interpulse_engine::Duration;

/// Change of the request rate.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Pace {
    /// Times are divided by this factor.
    Speed(f64),
    /// Times are scaled such that the mean rate is this many requests per second; a trace without times gets even gaps.
    Iops(f64),
}

/// Conversion of times.
#[derive(Clone, Copy, Debug)]
pub(super) enum Paced {
    Divided(f64),
    /// Equal gaps in ns.
    Even(f64),
}

impl Pace {
    /// Errors: a rate without a gap to scale, a speed without times.
    pub(super) fn factor(self, found: &Overview) -> Result<Paced, RewriteError> {
        match self {
            Pace::Speed(_) if !found.timed => Err(RewriteError::Refused(
                "--speed: the trace has no times; legal: --iops, which gives it even gaps".to_owned(),
            )),
            Pace::Speed(speed) => Ok(Paced::Divided(speed)),
            Pace::Iops(iops) if !found.timed => Ok(Paced::Even(1e9 / iops)),
            Pace::Iops(iops) if found.span_ns > 0 => {
                let mean = (found.rows - 1) as f64 * 1e9 / found.span_ns as f64;
                Ok(Paced::Divided(iops / mean))
            }
            Pace::Iops(_) => Err(RewriteError::Refused(format!(
                "--iops: the {} row(s) of the trace have a single time, so there is no rate to scale; legal: a trace \
                 with two times",
                found.rows
            ))),
        }
    }
}

impl Paced {
    pub fn is_even(self) -> bool {
        matches!(self, Paced::Even(_))
    }

    /// New time of a row, rounded down to ns, which preserves the order.
    pub fn at(self, at_ns: u64, row: u64) -> Result<u64, RewriteError> {
        let at = match self {
            Paced::Divided(1.0) => return Ok(at_ns),
            Paced::Divided(factor) => at_ns as f64 / factor,
            Paced::Even(gap_ns) => row as f64 * gap_ns,
        };
        if at > SPAN_NS_MAX as f64 {
            let most = Duration(SPAN_NS_MAX);
            return Err(RewriteError::Refused(format!(
                "--speed, --iops: row {} would come later than {most} after the first; legal: a higher rate",
                row + 1
            )));
        }
        Ok(at as u64)
    }
}
