//! What a die does from a cut until it takes a program that saves data.

use crate::parts::{PowerSpec, power::Draw};
use crate::pulse::PulseTrain;
use interpulse_engine::Duration;

/// A stretch of time of one current, or of the phases of a train.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stretch {
    /// So long, drawing this.
    Draw(Draw, Duration),
    /// The train from one progress to another; drawing this in pulses, resets, verifies.
    Train(PulseTrain, [Draw; 3], [Duration; 2]),
}

impl Stretch {
    fn length(&self) -> Duration {
        match self {
            Stretch::Draw(_, time) => *time,
            Stretch::Train(_, _, [from, to]) => *to - *from,
        }
    }

    /// The charge of its first `time`, in fC.
    fn charge(&self, power: &PowerSpec, time: Duration) -> u128 {
        match *self {
            Stretch::Draw(draw, _) => power.current(draw).charge(time),
            Stretch::Train(train, draws, [from, _]) => {
                let (before, after) = (train.split(from), train.split(from + time));
                (0..3).map(|k| power.current(draws[k]).charge(after[k] - before[k])).sum()
            }
        }
    }
}

/// What a die does until it takes save data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Path {
    /// One after another.
    pub stretches: Vec<Stretch>,
    /// It then holds a suspended erase.
    pub holds: bool,
}

impl Path {
    /// How long it takes.
    pub fn length(&self) -> Duration {
        self.stretches.iter().fold(Duration::ZERO, |sum, stretch| sum + stretch.length())
    }

    /// The charge of its first `time`, or of all of it, in fC.
    pub fn charge(&self, power: &PowerSpec, time: Duration) -> u128 {
        let mut left = time;
        let mut charge = 0;
        for stretch in &self.stretches {
            let now = stretch.length().min(left);
            charge += stretch.charge(power, now);
            left -= now;
        }
        charge
    }

    /// Then this, if it takes time.
    pub fn then(&mut self, draw: Draw, time: Duration) {
        if time > Duration::ZERO {
            self.stretches.push(Stretch::Draw(draw, time));
        }
    }

    /// Then the train from progress `from` to `to`.
    pub fn run(&mut self, train: PulseTrain, draws: [Draw; 3], from: Duration, to: Duration) {
        if to > from {
            self.stretches.push(Stretch::Train(train, draws, [from, to]));
        }
    }
}
