//! One die as a queue with two classes of work, reads and programs.
//!
//! Both classes arrive as Poisson streams with rates `l1` (reads) and `l2` (programs), have services with
//! first and second moments `s` and `E[s^2]`, loads `r = l s`, and `R = (l1 E[s1^2] + l2 E[s2^2]) / 2` is the
//! mean residual service that an arrival finds (Pollaczek and Khinchine). A *wait* ends when service starts,
//! a *time* when it ends. Rates are per unit of the sizes. A class that is offered more than the die can
//! serve waits for ever: the answer is infinity. Reads that go first stay finite beside a hopeless backlog of
//! programs, which then fill all the time that reads leave over.
//! Sources: Cobham (1954) for priorities; White and Christie (1958) for preemption; Welch (1964) for the queue
//! whose first customer of a busy period is delayed.

use crate::domain::{OutOfDomain, not_negative, positive, require};

/// A Poisson stream of work.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Class {
    rate: f64,
    mean: f64,
    second: f64,
}

impl Class {
    /// Arrivals at `rate`, every service of the same `size`.
    ///
    /// # Errors
    /// [`OutOfDomain`] unless `rate` is finite and not negative and `size` finite and above 0.
    pub fn fixed(rate: f64, size: f64) -> Result<Class, OutOfDomain> {
        Class::new(rate, size, size * size)
    }

    /// Arrivals at `rate`, services with these first and second moments.
    ///
    /// # Errors
    /// [`OutOfDomain`] as [`Class::fixed`], or if the second moment is below the square of the mean.
    pub fn new(rate: f64, mean: f64, second_moment: f64) -> Result<Class, OutOfDomain> {
        not_negative("rate", rate)?;
        positive("mean service", mean)?;
        let second = moments(mean, second_moment)?;
        Ok(Class { rate, mean, second })
    }

    /// Arrivals per unit of time.
    pub fn rate(&self) -> f64 {
        self.rate
    }

    /// Mean service.
    pub fn mean(&self) -> f64 {
        self.mean
    }

    /// Share of a die's time that the class needs.
    pub fn load(&self) -> f64 {
        self.rate * self.mean
    }
}

/// The second moment, if it can belong to this mean (rounding forgiven).
fn moments(mean: f64, second: f64) -> Result<f64, OutOfDomain> {
    let possible = second >= mean * mean * (1.0 - 1e-12) && second.is_finite();
    require(possible, "second moment", second, "finite and at least the square of the mean")
}

/// How long a program takes to stop once a read asks for it: the first two moments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StopDelay {
    mean: f64,
    second: f64,
}

impl StopDelay {
    /// A delay with these first and second moments.
    ///
    /// # Errors
    /// [`OutOfDomain`] if the mean is negative or the second moment below its square.
    pub fn new(mean: f64, second_moment: f64) -> Result<StopDelay, OutOfDomain> {
        not_negative("mean delay", mean)?;
        Ok(StopDelay { mean, second: moments(mean, second_moment)? })
    }

    /// Always the same delay.
    ///
    /// # Errors
    /// [`OutOfDomain`] unless `delay` is finite and not negative.
    pub fn fixed(delay: f64) -> Result<StopDelay, OutOfDomain> {
        StopDelay::new(delay, delay * delay)
    }

    /// The rest of the phase that a random instant of a train falls into: `E = sum p^2 / (2 sum p)` and
    /// `E[d^2] = sum p^3 / (3 sum p)`. A single phase gives the uniform delay on `[0, p]`.
    ///
    /// # Errors
    /// [`OutOfDomain`] unless there is a phase and all are finite and above 0.
    pub fn rest_of_phase(phases: &[f64]) -> Result<StopDelay, OutOfDomain> {
        let total = train(phases)?;
        let power = |n: i32| phases.iter().map(|p| p.powi(n)).sum::<f64>();
        StopDelay::new(power(2) / (2.0 * total), power(3) / (3.0 * total))
    }

    /// Mean delay.
    pub fn mean(&self) -> f64 {
        self.mean
    }
}

/// Length of a train of phases, all legal.
fn train(phases: &[f64]) -> Result<f64, OutOfDomain> {
    let mut total = 0.0;
    for &phase in phases {
        total += positive("phase", phase)?;
    }
    positive("sum of the phases", total)
}

/// One die that serves reads and programs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Die {
    /// The reads, first in rank wherever there is a rank.
    pub reads: Class,
    /// The programs.
    pub programs: Class,
}

impl Die {
    /// Mean wait of either class, first come first served: `R / (1 - r1 - r2)`.
    pub fn fifo_wait(&self) -> f64 {
        self.residual(self.programs.rate) / self.room()
    }

    /// Mean wait of a read if reads go first but interrupt nothing (RPS): `R / (1 - r1)`.
    pub fn priority_read_wait(&self) -> f64 {
        self.residual(self.served_program_load() / self.programs.mean) / self.room_beside_reads()
    }

    /// Mean wait of a program if reads go first but interrupt nothing (RPS): `R / ((1 - r1)(1 - r1 - r2))`.
    pub fn priority_program_wait(&self) -> f64 {
        self.residual(self.programs.rate) / (self.room_beside_reads() * self.room())
    }

    /// Mean time of a read that interrupts a program at once and for free: programs do not exist for it.
    /// `s1 + l1 E[s1^2] / (2 (1 - r1))`.
    pub fn preemptive_read_time(&self) -> f64 {
        self.reads.mean + self.reads.rate * self.reads.second / (2.0 * self.room_beside_reads())
    }

    /// Mean time of a program, wait and interruptions included, that resumes for free where it was stopped:
    /// `s2 / (1 - r1) + R / ((1 - r1)(1 - r1 - r2))`.
    pub fn preemptive_program_time(&self) -> f64 {
        self.programs.mean / self.room_beside_reads() + self.priority_program_wait()
    }

    /// Mean time of a read if a program needs `delay` to stop and gains nothing from it.
    ///
    /// The first read of a busy period finds a program with probability
    /// `q = r2 / (1 - r1 - l1 r2 E[delay])` and then waits for it: Welch's queue with `D = delay` or 0,
    /// `T = preemptive + (2 E[D] + l1 E[D^2]) / (2 (1 + l1 E[D]))`.
    pub fn stop_delay_read_time(&self, delay: StopDelay) -> f64 {
        let (l1, r2) = (self.reads.rate, self.programs.load());
        let left = 1.0 - self.reads.load() - l1 * r2 * delay.mean;
        // With more programs than time there is always one in progress.
        let found = if left > r2 { r2 / left } else { 1.0 };
        let (first, second) = (found * delay.mean, found * delay.second);
        self.preemptive_read_time() + (2.0 * first + l1 * second) / (2.0 * (1.0 + l1 * first))
    }

    /// Mean time of a read if a program stops at the end of a phase, the phase counting as done, and resumes
    /// with the next (IPS, free of entry and resume costs). `phases` are those of one program; only their
    /// ratios matter.
    ///
    /// Exact: for a read the phases are jobs of lower rank that are never interrupted, so by Cobham
    /// `T = s1 + (l1 E[s1^2] / 2 + r2 sum p^2 / (2 sum p)) / (1 - r1)`. [`Die::stop_delay_read_time`] with
    /// [`StopDelay::rest_of_phase`] is a little more, because there the time to stop is lost to the program.
    ///
    /// # Errors
    /// [`OutOfDomain`] unless there is a phase and all are finite and above 0.
    pub fn phase_end_read_time(&self, phases: &[f64]) -> Result<f64, OutOfDomain> {
        let rest = self.served_program_load() * StopDelay::rest_of_phase(phases)?.mean;
        let residual = 0.5 * self.reads.rate * self.reads.second + rest;
        Ok(self.reads.mean + residual / self.room_beside_reads())
    }

    /// Mean suspensions of a program that can stop at any instant: every read that arrives while it is
    /// in progress, `l1 s2`.
    pub fn suspends_per_program(&self) -> f64 {
        self.reads.rate * self.programs.mean
    }

    /// `R` with programs served at `program_rate`.
    fn residual(&self, program_rate: f64) -> f64 {
        0.5 * (self.reads.rate * self.reads.second + program_rate * self.programs.second)
    }

    /// `1 - r1 - r2`, or 0 (which makes a wait infinite) if there is none.
    fn room(&self) -> f64 {
        (1.0 - self.reads.load() - self.programs.load()).max(0.0)
    }

    /// `1 - r1`, or 0 if reads alone are too many.
    fn room_beside_reads(&self) -> f64 {
        (1.0 - self.reads.load()).max(0.0)
    }

    /// Load of the programs that get served.
    fn served_program_load(&self) -> f64 {
        self.programs.load().min(self.room_beside_reads())
    }
}

/// Mean suspensions of a program of `pulses` equal pulses that stops between two pulses: a pulse is followed
/// by a suspension if a read arrives during it, except that after the last the program is over: `(pulses -
/// 1)(1 - e^(-read_rate pulse))`.
///
/// # Errors
/// [`OutOfDomain`] unless `read_rate` is finite and not negative, `pulses >= 1` and `pulse` finite and above
/// 0.
pub fn suspends_between_pulses(read_rate: f64, pulses: u32, pulse: f64) -> Result<f64, OutOfDomain> {
    let gaps = crate::domain::at_least_one("pulses", pulses)? - 1.0;
    Ok(gaps * -libm::expm1(-not_negative("read_rate", read_rate)? * positive("pulse", pulse)?))
}

/// Mean wait in an M/D/1 queue in units of the service time: `load / (2 (1 - load))`, infinite from load 1
/// on.
///
/// # Errors
/// [`OutOfDomain`] unless `load` is finite and not negative.
pub fn md1_wait_in_services(load: f64) -> Result<f64, OutOfDomain> {
    let load = not_negative("load", load)?;
    Ok(if load < 1.0 { load / (2.0 * (1.0 - load)) } else { f64::INFINITY })
}
