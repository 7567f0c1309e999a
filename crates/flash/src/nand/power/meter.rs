//! Meter of the current of all dies through time (Kirchhoff's law): windows, instantaneous maximum, power over time.
//!
//! Every die has a phase schedule. The meter keeps the coming changes on an event queue of its own, so that it integrates one step
//! function in order, exactly. It shares nothing with [`super::tally`], so that the audit can compare the two.

use crate::die::State;
use crate::nand::observer::{DataMove, DieChange, FlashObserver};
use crate::nand::phase_schedule::PhaseSchedule;
use crate::nand::power::tally::Rails;
use crate::parts::power::{Draw, PowerSpec};
use interpulse_engine::{Current, Duration, EventQueue, ResourceId, SimTime};

/// Points of power over time; at this many, pairs are merged.
const POINTS: usize = 1024;

/// Power over time: the energies of equal intervals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Series {
    /// Length of an interval.
    pub interval: Duration,
    /// Energy of each whole interval.
    pub energies: Vec<Rails>,
}

/// Reading of the meter in a measurement window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading {
    /// Length of the short windows of `peak`.
    pub window: Duration,
    /// Whole windows measured.
    pub windows: u64,
    /// The largest energy of a whole window, VDDcore and VDDQ together, in aJ, and the start of that window counted from
    /// the start of the measurement; `None` if the measurement is shorter than a window.
    pub peak: Option<(u128, Duration)>,
    /// The largest sum of VDDcore currents at any instant.
    pub most: Current,
    /// Power over time.
    pub series: Series,
    /// Energy.
    pub energy: Rails,
}

/// The meter.
#[derive(Clone)]
pub struct Meter {
    part: PowerSpec,
    /// The next change of each die, then the end of the transfer of each channel.
    events: EventQueue,
    dies: u32,
    courses: Vec<PhaseSchedule>,
    /// What each die draws now.
    drawn: Vec<Current>,
    /// Power of each channel's transfer, in aJ/ns (nW).
    rates: Vec<u64>,
    /// Sum of `drawn`, and of `rates`.
    current: Current,
    rate: u64,
    /// Up to when everything is integrated.
    last: SimTime,
    /// Energy since the start of the simulation.
    total: Rails,
    begun: Begun,
}

/// The measurement under way.
#[derive(Clone)]
struct Begun {
    start: SimTime,
    total_at_start: Rails,
    /// The window under way: its start, and its energies so far.
    window_start: SimTime,
    window_energy: Rails,
    reading: Reading,
    /// Windows that make an interval of the series, and those of the interval under way with their energies.
    merge: u64,
    merged: u64,
    merged_energy: Rails,
}

impl Begun {
    fn new(window: Duration, now: SimTime, total: Rails) -> Begun {
        Begun {
            start: now,
            total_at_start: total,
            window_start: now,
            window_energy: Rails::default(),
            reading: Reading {
                window,
                windows: 0,
                peak: None,
                most: Current::ZERO,
                series: Series { interval: window, energies: Vec::new() },
                energy: Rails::default(),
            },
            merge: 1,
            merged: 0,
            merged_energy: Rails::default(),
        }
    }

    /// Adds `count` whole windows of these energies, the first of which begins at `window_start`.
    fn close(&mut self, energy: Rails, count: u64) {
        let both = energy.both();
        if self.reading.peak.is_none_or(|(most, _)| both > most) {
            self.reading.peak = Some((both, self.window_start.since(self.start)));
        }
        self.reading.windows += count;
        self.window_start = self.window_start + self.reading.window * count;
        self.window_energy = Rails::default();
        let mut left = count;
        while left > 0 {
            let n = left.min(self.merge - self.merged);
            self.merged += n;
            self.merged_energy += energy.times(n);
            left -= n;
            if self.merged == self.merge {
                self.point();
            }
        }
    }

    /// The interval under way is whole.
    fn point(&mut self) {
        let series = &mut self.reading.series;
        series.energies.push(std::mem::take(&mut self.merged_energy));
        self.merged = 0;
        if series.energies.len() == POINTS {
            let pairs = series.energies.chunks(2).map(|pair| pair.iter().copied().sum());
            series.energies = pairs.collect();
            self.merge *= 2;
            series.interval = self.reading.window * self.merge;
        }
    }
}

impl Meter {
    /// A meter of idle dies; those of one channel have consecutive numbers.
    pub fn new(
        part: &PowerSpec,
        dies: u32,
        channels: u32,
        window: Duration,
        standby_after: Duration,
    ) -> Meter {
        let mut meter = Meter {
            part: part.clone(),
            events: EventQueue::new(dies + channels),
            dies,
            courses: vec![PhaseSchedule::of(State::Idle, SimTime::ZERO); dies as usize],
            drawn: vec![part.current(Draw::Standby); dies as usize],
            rates: vec![0; channels as usize],
            current: Current(part.current(Draw::Standby).as_ua() * u64::from(dies)),
            rate: 0,
            last: SimTime::ZERO,
            total: Rails::default(),
            begun: Begun::new(window, SimTime::ZERO, Rails::default()),
        };
        if standby_after > Duration::ZERO {
            let until = SimTime::ZERO + standby_after;
            (0..dies)
                .for_each(|d| meter.start_observing(SimTime::ZERO, d, PhaseSchedule::of(State::Idle, until)));
        }
        meter
    }

    /// Sets the schedule of die `d` from `now` on.
    fn start_observing(&mut self, now: SimTime, d: u32, schedule: PhaseSchedule) {
        self.advance(now);
        self.courses[d as usize] = schedule;
        self.draw(now, d);
    }

    /// Starts a new measurement.
    pub fn restart(&mut self, now: SimTime) {
        self.advance(now);
        self.begun = Begun::new(self.begun.reading.window, now, self.total);
    }

    /// Reading of the measurement under way.
    pub fn read(&mut self, now: SimTime) -> Reading {
        self.advance(now);
        Reading { energy: self.total - self.begun.total_at_start, ..self.begun.reading.clone() }
    }

    /// Energy since the start of the simulation.
    pub fn total(&mut self, now: SimTime) -> Rails {
        self.advance(now);
        self.total
    }

    /// Applies scheduled changes up to `now`.
    fn advance(&mut self, now: SimTime) {
        while let Some((at, resource)) = self.events.next(now) {
            self.integrate(at);
            if resource.0 < self.dies {
                self.draw(at, resource.0);
            } else {
                let rate = &mut self.rates[(resource.0 - self.dies) as usize];
                self.rate -= std::mem::take(rate);
            }
            self.events.settle();
        }
        self.integrate(now);
    }

    /// Sets the current of die `d` by its schedule at `now`.
    fn draw(&mut self, now: SimTime, d: u32) {
        let (draw, until) = self.courses[d as usize].draws_at(now);
        let current = self.part.current(draw);
        self.current.0 += current.0;
        self.current.0 -= std::mem::replace(&mut self.drawn[d as usize], current).0;
        match until {
            Some(until) => self.events.arm(ResourceId(d), until),
            None => self.events.disarm(ResourceId(d)),
        }
    }

    /// Integrates up to `to`; nothing changes before.
    fn integrate(&mut self, to: SimTime) {
        if to <= self.last {
            return;
        }
        let most = &mut self.begun.reading.most;
        *most = (*most).max(self.current);
        let window = self.begun.reading.window;
        while self.last < to {
            let end = self.begun.window_start + window;
            let whole = to.since(self.last).as_ns() / window.as_ns();
            if whole > 1
                && self.last == self.begun.window_start
                && self.begun.window_energy == Rails::default()
            {
                let each = self.energy(window);
                self.total += each.times(whole);
                self.last = self.last + window * whole;
                self.begun.close(each, whole);
                continue;
            }
            let part = self.energy(end.min(to).since(self.last));
            self.total += part;
            self.begun.window_energy += part;
            self.last = end.min(to);
            if self.last == end {
                let energy = self.begun.window_energy;
                self.begun.close(energy, 1);
            }
        }
    }

    /// Energy of `time` at the present currents.
    fn energy(&self, time: Duration) -> Rails {
        Rails {
            core: self.part.vcc.energy(self.current.charge(time)),
            bus: u128::from(self.rate) * u128::from(time.as_ns()),
        }
    }
}

impl FlashObserver for Meter {
    fn die_changed(&mut self, change: &DieChange) {
        if let Some(schedule) = change.schedule {
            self.start_observing(change.at, change.die.0, schedule);
        }
    }

    fn data_moves(&mut self, data: &DataMove) {
        self.advance(data.at);
        let each = if data.into { self.part.bus_in } else { self.part.bus_out };
        let (energy, length) = (each.of_byte() * data.bytes, data.end.since(data.at).as_ns());
        let rate = energy.checked_div(length).unwrap_or(0);
        // The remainder is spent at once, so that the energy of a transfer is exact.
        let rest = u128::from(energy - rate * length);
        self.total.bus += rest;
        self.begun.window_energy.bus += rest;
        self.rate += rate;
        self.rate -= std::mem::replace(&mut self.rates[data.channel as usize], rate);
        self.events.arm(ResourceId(self.dies + data.channel), data.end);
    }
}
