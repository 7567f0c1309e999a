//! Windows of predictable latency mode: their schedule, and the current one.

use crate::spec::PredictableLatencySpec;
use interpulse_engine::{Duration, SimTime};

/// Windows of a drive.
pub(super) struct LatencyWindows {
    spec: PredictableLatencySpec,
    /// Start of the first non-deterministic window after time zero, less than a period.
    pub(super) offset: Duration,
    pub(super) deterministic: bool,
    /// Time up to which the windows are counted.
    pub(super) counted: SimTime,
}

impl LatencyWindows {
    /// Windows of a drive; `None` without predictable latency mode.
    pub(super) fn new(spec: Option<PredictableLatencySpec>) -> Option<Box<LatencyWindows>> {
        spec.map(|spec| {
            let (offset, counted) = (Duration::ZERO, SimTime::ZERO);
            Box::new(LatencyWindows { spec, offset, deterministic: false, counted })
        })
    }

    /// Whether the window at `now` is deterministic by the schedule, and its end.
    pub(super) fn scheduled(&self, now: SimTime) -> (bool, SimTime) {
        let period = self.spec.period().as_ns();
        let since = (now.as_ns() + period - self.offset.as_ns()) % period;
        let ndwin = self.spec.ndwin_time.as_ns();
        let (deterministic, end) = if since < ndwin { (false, ndwin) } else { (true, period) };
        (deterministic, now + Duration::from_ns(end - since))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn non_deterministic_windows_begin_at_the_offset() {
        let ms = Duration::from_ms;
        let spec = PredictableLatencySpec { dtwin_time: ms(30), ndwin_time: ms(10) };
        let mut windows = *LatencyWindows::new(Some(spec)).expect("there are windows");
        let at = |windows: &LatencyWindows, t| {
            let (deterministic, end) = windows.scheduled(SimTime::ZERO + ms(t));
            (deterministic, end.as_ns() / 1_000_000)
        };
        assert_eq!((at(&windows, 0), at(&windows, 9)), ((false, 10), (false, 10)));
        assert_eq!((at(&windows, 10), at(&windows, 39)), ((true, 40), (true, 40)));
        assert_eq!(at(&windows, 40), (false, 50));
        windows.offset = ms(20);
        assert_eq!((at(&windows, 0), at(&windows, 19)), ((true, 20), (true, 20)));
        assert_eq!((at(&windows, 20), at(&windows, 30)), ((false, 30), (true, 60)));
    }
}
