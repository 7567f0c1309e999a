//! Path of a die from a power cut until it accepts a save program.

use crate::parts::{PowerSpec, power::Draw};
use crate::pulse::PulseTrain;
use crate::suspend::Sliced;
use interpulse_engine::Duration;

/// A period with one current, or a part of a pulse train.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Segment {
    /// A current and its duration.
    Draw(Draw, Duration),
    /// A train between two progresses, with the currents of pulses, resets and verifies.
    Train(PulseTrain, [Draw; 3], [Duration; 2]),
}

impl Segment {
    fn length(&self) -> Duration {
        match self {
            Segment::Draw(_, time) => *time,
            Segment::Train(_, _, [from, to]) => *to - *from,
        }
    }

    /// The charge of the first `time` of the segment, in fC.
    fn charge(&self, power: &PowerSpec, time: Duration) -> u128 {
        match *self {
            Segment::Draw(draw, _) => power.current(draw).charge(time),
            Segment::Train(train, draws, [from, _]) => {
                let (before, after) = (train.split(from), train.split(from + time));
                (0..3).map(|k| power.current(draws[k]).charge(after[k] - before[k])).sum()
            }
        }
    }
}

/// Activity of a die until it accepts save data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Path {
    /// The segments in order.
    pub segments: Vec<Segment>,
    /// The die then holds a suspended erase.
    pub holds: bool,
}

impl Path {
    /// Total time.
    pub fn length(&self) -> Duration {
        self.segments.iter().fold(Duration::ZERO, |sum, segment| sum + segment.length())
    }

    /// The charge of the first `time` of the path, in fC.
    pub fn charge(&self, power: &PowerSpec, time: Duration) -> u128 {
        let mut left = time;
        let mut charge = 0;
        for segment in &self.segments {
            let now = segment.length().min(left);
            charge += segment.charge(power, now);
            left -= now;
        }
        charge
    }

    /// Appends a period, unless it is empty.
    pub fn then(&mut self, draw: Draw, time: Duration) {
        if time > Duration::ZERO {
            self.segments.push(Segment::Draw(draw, time));
        }
    }

    /// Appends a train from progress `from` to its end, with the commands of `slices` between.
    pub fn run_slices(&mut self, of: PulseTrain, draws: [Draw; 3], from: Duration, slices: Option<&Sliced>) {
        let mut at = from;
        while let Some(slices) = slices
            && at < of.total()
        {
            let end = slices.end(&of, at);
            self.run(of, draws, at, end);
            if end < of.total() {
                self.then(Draw::Resume, slices.overhead);
            }
            at = end;
        }
        self.run(of, draws, at, of.total());
    }

    /// Appends a part of a train, unless it is empty.
    pub fn run(&mut self, train: PulseTrain, draws: [Draw; 3], from: Duration, to: Duration) {
        if to > from {
            self.segments.push(Segment::Train(train, draws, [from, to]));
        }
    }
}
