//! Hedged reads in flight, their timers, and the time after which each flow hedges.

use crate::failure::mirror_resync::Sectors;
use interpulse_engine::{Duration, RequestId, SimTime, Slab, Tag};
use interpulse_workload::{FlowSpec, HedgeSpec};
use std::collections::BTreeMap;

interpulse_engine::numbers! {
    /// Number of a hedged read.
    HedgeId
}

/// Reads from which a percentile is computed.
const SAMPLE: usize = 1000;

/// Bit that makes the number of a hedged read a reader of the stripe cache beside the host requests.
const HEDGE: u32 = 1 << 31;

impl HedgeId {
    /// The second read as a reader of the stripe cache.
    pub(crate) fn as_reader(self) -> RequestId {
        RequestId(self.0 | HEDGE)
    }

    /// The hedged read of a reader of the stripe cache; `None` for a host request.
    #[inline(always)]
    pub(crate) fn of_reader(reader: RequestId) -> Option<HedgeId> {
        (reader.0 & HEDGE != 0).then_some(HedgeId(reader.0 & !HEDGE))
    }
}

/// Progress of one of the two reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Progress {
    /// Not issued.
    Idle,
    Running,
    /// It has returned the data.
    Done,
    /// The drive could not correct its data, or for a second read: it was given up.
    Failed,
    /// It failed fast on a busy drive.
    Busy,
}

/// One read that the array observes; it ends when neither read is running.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HedgedRead {
    /// Host request, valid until the read is answered.
    pub(crate) job: RequestId,
    pub(crate) read: Sectors,
    /// Drive of the first read.
    pub(crate) physical: usize,
    pub(crate) first: Progress,
    pub(crate) second: Progress,
    /// Pages of the second read that the stripe cache has not returned.
    pub(crate) pages: u32,
    /// Some page of the second read could not be read.
    pub(crate) spoiled: bool,
    pub(crate) answered: bool,
    flow: Tag,
    issued: SimTime,
    /// Its timer, while that is armed.
    timer: Option<(SimTime, u64)>,
}

/// Hedging of one flow.
struct FlowHedging {
    spec: HedgeSpec,
    after: Option<Duration>,
    /// Latencies of first reads since `after` was computed.
    sample: Vec<Duration>,
}

impl FlowHedging {
    fn new(spec: HedgeSpec) -> FlowHedging {
        FlowHedging { spec, after: spec.after, sample: Vec::new() }
    }

    /// Counts the latency of a first read.
    fn note(&mut self, latency: Duration) {
        let Some(percentile) = self.spec.percentile else { return };
        self.sample.push(latency);
        if self.sample.len() == SAMPLE {
            let rank = libm::ceil(percentile / 100.0 * SAMPLE as f64) as usize;
            self.after = Some(*self.sample.select_nth_unstable(rank - 1).1);
            self.sample.clear();
        }
    }
}

/// Hedged reads of an array.
pub(crate) struct HedgedReads {
    flows: Vec<FlowHedging>,
    reads: Slab<HedgeId, HedgedRead>,
    /// Reads that have not completed, by the time at which they are read again; ties in the order of submission.
    timers: BTreeMap<(SimTime, u64), HedgeId>,
    started: u64,
}

impl HedgedReads {
    /// Hedging of these flows; `None` if none hedges.
    pub(crate) fn of(flows: &[FlowSpec]) -> Option<Box<HedgedReads>> {
        flows.iter().any(|flow| flow.hedge.is_on()).then(|| {
            Box::new(HedgedReads {
                flows: flows.iter().map(|flow| FlowHedging::new(flow.hedge)).collect(),
                reads: Slab::default(),
                timers: BTreeMap::new(),
                started: 0,
            })
        })
    }

    /// Observes a read of `flow` on drive `physical`; `None` if the flow does not hedge. A time beyond `horizon` is never.
    pub(crate) fn begin(
        &mut self,
        now: SimTime,
        horizon: SimTime,
        flow: Tag,
        job: RequestId,
        read: Sectors,
        physical: usize,
    ) -> Option<HedgeId> {
        let hedging = self.flows.get(flow.index()).filter(|of| of.spec.is_on())?;
        self.started += 1;
        let timer = hedging.after.map(|after| (now + after, self.started)).filter(|timer| timer.0 <= horizon);
        let id = self.reads.insert(HedgedRead {
            job,
            read,
            physical,
            first: Progress::Running,
            second: Progress::Idle,
            pages: 0,
            spoiled: false,
            answered: false,
            flow,
            issued: now,
            timer,
        });
        if let Some(timer) = timer {
            self.timers.insert(timer, id);
        }
        Some(id)
    }

    pub(crate) fn get(&self, id: HedgeId) -> &HedgedRead {
        self.reads.get(id)
    }

    pub(crate) fn get_mut(&mut self, id: HedgeId) -> &mut HedgedRead {
        self.reads.get_mut(id)
    }

    /// Records how the first read ended.
    pub(crate) fn first_ended(&mut self, id: HedgeId, now: SimTime, how: Progress) {
        let of = self.reads.get_mut(id);
        of.first = how;
        let timer = of.timer.take();
        if how == Progress::Done {
            self.flows[of.flow.index()].note(now.since(of.issued));
        }
        if let Some(timer) = timer {
            self.timers.remove(&timer);
        }
    }

    /// Forgets a read whose reads have both ended.
    pub(crate) fn forget_if_over(&mut self, id: HedgeId) {
        let of = self.reads.get(id);
        if of.first != Progress::Running && of.second != Progress::Running {
            self.reads.remove(id);
        }
    }

    /// Time of the next timer.
    pub(crate) fn next(&self) -> Option<SimTime> {
        self.timers.first_key_value().map(|((at, _), _)| *at)
    }

    /// Takes the next read whose time has come.
    pub(crate) fn due(&mut self, now: SimTime) -> Option<HedgeId> {
        let first = self.timers.first_entry().filter(|first| first.key().0 <= now)?;
        let id = first.remove();
        self.reads.get_mut(id).timer = None;
        Some(id)
    }

    /// Forgets all reads in flight: they are lost with the power.
    pub(crate) fn lose_power(&mut self) {
        self.reads = Slab::default();
        self.timers.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use interpulse_workload::SyntheticSpec;

    fn hedging(after: Option<Duration>, percentile: Option<f64>) -> HedgedReads {
        let plain = FlowSpec::synthetic("plain", SyntheticSpec::default());
        let hedge = HedgeSpec { after, percentile };
        *HedgedReads::of(&[plain.clone(), FlowSpec { hedge, ..plain }]).expect("a flow hedges")
    }

    fn begin(hedging: &mut HedgedReads, now: u64, flow: u32) -> Option<HedgeId> {
        let read = Sectors { from: 0, to: 8 };
        hedging.begin(SimTime(now), SimTime(u64::MAX), Tag(flow), RequestId(7), read, 0)
    }

    #[test]
    fn only_reads_of_a_hedging_flow_are_observed() {
        let plain = FlowSpec::synthetic("plain", SyntheticSpec::default());
        assert!(HedgedReads::of(&[plain]).is_none());
        let mut hedging = hedging(Some(Duration(100)), None);
        assert_eq!(begin(&mut hedging, 5, 0), None);
        // A request from outside the flows.
        assert_eq!(begin(&mut hedging, 5, 2), None);
        assert!(begin(&mut hedging, 5, 1).is_some());
    }

    #[test]
    fn a_timer_fires_at_its_instant_unless_the_read_has_completed() {
        let mut hedging = hedging(Some(Duration(100)), None);
        let ids = [5, 5, 7].map(|now| begin(&mut hedging, now, 1).expect("the flow hedges"));
        assert_eq!(hedging.next(), Some(SimTime(105)));
        hedging.first_ended(ids[0], SimTime(50), Progress::Done);
        hedging.forget_if_over(ids[0]);
        assert_eq!(hedging.due(SimTime(104)), None);
        assert_eq!(hedging.due(SimTime(105)), Some(ids[1]));
        assert_eq!((hedging.due(SimTime(105)), hedging.next()), (None, Some(SimTime(107))));
    }

    /// Of latencies from 1 to 1,000 ns the 95th percentile is the 950th, of twice these the double.
    #[test]
    fn a_percentile_of_each_thousand_reads_replaces_the_time() {
        let mut hedging = hedging(Some(Duration(3)), Some(95.0));
        let time_of_next = |hedging: &mut HedgedReads| {
            let id = begin(hedging, 0, 1).expect("the flow hedges");
            let at = hedging.get(id).timer.expect("it has a time").0.as_ns();
            hedging.first_ended(id, SimTime(0), Progress::Failed);
            hedging.forget_if_over(id);
            at
        };
        let read = |hedging: &mut HedgedReads, latency: u64| {
            let id = begin(hedging, 0, 1).expect("the flow hedges");
            hedging.first_ended(id, SimTime(latency), Progress::Done);
            hedging.forget_if_over(id);
        };
        (1..1000).rev().for_each(|latency| read(&mut hedging, latency));
        assert_eq!(time_of_next(&mut hedging), 3);
        read(&mut hedging, 1000);
        assert_eq!(time_of_next(&mut hedging), 950);
        (1..=1000).for_each(|latency| read(&mut hedging, 2 * latency));
        assert_eq!(time_of_next(&mut hedging), 1900);
    }
}
