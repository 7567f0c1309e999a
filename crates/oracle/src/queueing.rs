//! Queueing formulas of one die with two classes of work, reads and programs.
//!
//! Both classes arrive as Poisson streams with rates `l1` (reads) and `l2` (programs), have services with first and second
//! moments `s` and `E[s^2]` and loads `r = l s`; `R = (l1 E[s1^2] + l2 E[s2^2]) / 2` is the mean residual service at an arrival
//! (Pollaczek and Khinchine). A *wait* ends when service starts, a *time* when service ends. An overloaded class has an infinite
//! wait. Reads with priority stay finite beside an unbounded backlog of programs, which then use all remaining time.
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

    /// Offered load.
    pub fn load(&self) -> f64 {
        self.rate * self.mean
    }
}

/// Checks the second moment against the mean, with tolerance for rounding.
fn moments(mean: f64, second: f64) -> Result<f64, OutOfDomain> {
    let possible = second >= mean * mean * (1.0 - 1e-12) && second.is_finite();
    require(possible, "second moment", second, "finite and at least the square of the mean")
}

/// Time from a stop request to the stop of a program: first two moments.
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

    /// A constant delay.
    ///
    /// # Errors
    /// [`OutOfDomain`] unless `delay` is finite and not negative.
    pub fn fixed(delay: f64) -> Result<StopDelay, OutOfDomain> {
        StopDelay::new(delay, delay * delay)
    }

    /// The rest of the phase at a random instant of a train: `E = sum p^2 / (2 sum p)` and
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

/// Total length of a train of valid phases.
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
    /// The reads, of higher priority where priorities apply.
    pub reads: Class,
    /// The programs.
    pub programs: Class,
}

impl Die {
    /// Mean wait of either class, first come first served: `R / (1 - r1 - r2)`.
    pub fn fifo_wait(&self) -> f64 {
        self.residual(self.programs.rate) / self.capacity()
    }

    /// Mean wait of a read with non-preemptive read priority (RPS): `R / (1 - r1)`.
    pub fn priority_read_wait(&self) -> f64 {
        self.residual(self.served_program_load() / self.programs.mean) / self.capacity_beside_reads()
    }

    /// Mean wait of a program with non-preemptive read priority (RPS): `R / ((1 - r1)(1 - r1 - r2))`.
    pub fn priority_program_wait(&self) -> f64 {
        self.residual(self.programs.rate) / (self.capacity_beside_reads() * self.capacity())
    }

    /// Mean time of a read that preempts programs at once and at no cost:
    /// `s1 + l1 E[s1^2] / (2 (1 - r1))`.
    pub fn preemptive_read_time(&self) -> f64 {
        self.reads.mean + self.reads.rate * self.reads.second / (2.0 * self.capacity_beside_reads())
    }

    /// Mean time of a program, wait and interruptions included, that resumes at no cost where it stopped:
    /// `s2 / (1 - r1) + R / ((1 - r1)(1 - r1 - r2))`.
    pub fn preemptive_program_time(&self) -> f64 {
        self.programs.mean / self.capacity_beside_reads() + self.priority_program_wait()
    }

    /// Mean time of a read if a program needs `delay` to stop and makes no progress during it.
    ///
    /// The first read of a busy period finds a program with probability
    /// `q = r2 / (1 - r1 - l1 r2 E[delay])` and then waits for it: Welch's queue with `D = delay` or 0,
    /// `T = preemptive + (2 E[D] + l1 E[D^2]) / (2 (1 + l1 E[D]))`.
    pub fn stop_delay_read_time(&self, delay: StopDelay) -> f64 {
        let (l1, r2) = (self.reads.rate, self.programs.load());
        let left = 1.0 - self.reads.load() - l1 * r2 * delay.mean;
        // Under overload a program is always in progress.
        let found = if left > r2 { r2 / left } else { 1.0 };
        let (first, second) = (found * delay.mean, found * delay.second);
        self.preemptive_read_time() + (2.0 * first + l1 * second) / (2.0 * (1.0 + l1 * first))
    }

    /// Mean time of a read if a program stops at the end of a phase and resumes with the next (IPS without entry and resume
    /// costs). `phases` are those of one program; only their ratios matter.
    ///
    /// Exact: for a read the phases are non-preemptible jobs of lower priority, so by Cobham
    /// `T = s1 + (l1 E[s1^2] / 2 + r2 sum p^2 / (2 sum p)) / (1 - r1)`. [`Die::stop_delay_read_time`] with
    /// [`StopDelay::rest_of_phase`] is slightly larger, because there the program makes no progress while it stops.
    ///
    /// # Errors
    /// [`OutOfDomain`] unless there is a phase and all are finite and above 0.
    pub fn phase_end_read_time(&self, phases: &[f64]) -> Result<f64, OutOfDomain> {
        let rest = self.served_program_load() * StopDelay::rest_of_phase(phases)?.mean;
        let residual = 0.5 * self.reads.rate * self.reads.second + rest;
        Ok(self.reads.mean + residual / self.capacity_beside_reads())
    }

    /// Mean suspensions of a program that can stop at any instant: `l1 s2`, the reads that arrive while it is in progress.
    pub fn suspends_per_program(&self) -> f64 {
        self.reads.rate * self.programs.mean
    }

    /// `R` with programs served at `program_rate`.
    fn residual(&self, program_rate: f64) -> f64 {
        0.5 * (self.reads.rate * self.reads.second + program_rate * self.programs.second)
    }

    /// `1 - r1 - r2`, at least 0 (infinite wait).
    fn capacity(&self) -> f64 {
        (1.0 - self.reads.load() - self.programs.load()).max(0.0)
    }

    /// `1 - r1`, at least 0.
    fn capacity_beside_reads(&self) -> f64 {
        (1.0 - self.reads.load()).max(0.0)
    }

    /// Load of the served programs.
    fn served_program_load(&self) -> f64 {
        self.programs.load().min(self.capacity_beside_reads())
    }
}

/// Mean suspensions of a program of `pulses` equal pulses that stops between pulses: a suspension follows each pulse but the
/// last if a read arrives during it, `(pulses - 1)(1 - e^(-read_rate pulse))`.
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
