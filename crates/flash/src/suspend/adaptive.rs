//! `adaptive`: A-ES of T. Fujimori and S. Nomura (BOOSTER, SYSTOR'23). Suspend points lie at equal distances in the time of the
//! operation, wherever its loops end. A point in a voltage reset or verify moves to the end of the verify, which the controller
//! commands apart from the voltage (T. Fujimori et al., US 12,354,679, claim 1). Neither source prints a distance.

use super::{Stop, StopRequest, SuspendScheme};
use crate::pulse::{PhaseKind, PulseTrain};
use interpulse_engine::Duration;
use interpulse_settings::{default, keys};

keys! {
    /// Stop at points that do not depend on the loops.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Adaptive, pub(super) fn read(s) {
        /// time of the operation between two suspend points
        pub interval: Duration = ["point-interval"]
            duration(default(Adaptive::DEFAULT.interval).at_least(Duration::from_us(1)).at_most(Duration::from_ms(1000))),
    }
}

impl Adaptive {
    /// 100 us, assumed.
    pub const DEFAULT: Adaptive = Adaptive { interval: Duration::from_us(100) };

    /// Progress at suspend point number `number`, at most that of the whole train.
    fn point(&self, train: &PulseTrain, number: u64) -> Duration {
        let at = self.interval * number;
        if at >= train.total() {
            return train.total();
        }
        match train.phase_at(at).kind {
            PhaseKind::Pulse => at,
            PhaseKind::Reset | PhaseKind::Verify => train.loop_start(at) + train.loop_length(at),
        }
    }
}

impl SuspendScheme for Adaptive {
    #[inline]
    fn stop(&self, request: &StopRequest) -> Option<Stop> {
        let op = request.op;
        let number = op.elapsed.as_ns() / self.interval.as_ns();
        let reached = self.point(op.train, number);
        let waits = reached > op.elapsed || reached == op.elapsed && !op.committed;
        let next = if waits { reached } else { self.point(op.train, number + 1) };
        Some(request.stop_after(next - op.elapsed))
    }
}
