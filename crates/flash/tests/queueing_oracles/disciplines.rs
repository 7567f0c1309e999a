//! FIFO, priority, and preemption at any instant and at the end of a loop, all without costs.

use crate::queueing_oracles::station::*;
use interpulse_flash::nand::queue::Policy;
use interpulse_flash::suspend::{Scheme, SuspendCosts, SuspendPolicy};
use interpulse_oracle::queueing::suspends_between_pulses;

fn free(scheme: Scheme) -> SuspendPolicy {
    SuspendPolicy::unlimited(scheme, SuspendCosts::default())
}

#[test]
fn first_in_first_out() {
    for load in LOADS {
        let (die, runs) = (load.oracle(), runs(Policy::Fifo, &SuspendPolicy::NEVER, load));
        agrees("read", load, &runs, |m| m.read_us, die.fifo_wait() + READ_US);
        agrees("program", load, &runs, |m| m.program_us, die.fifo_wait() + PROGRAM_US);
    }
}

#[test]
fn reads_first() {
    for load in LOADS {
        let (die, runs) = (load.oracle(), runs(Policy::ReadPriority, &SuspendPolicy::NEVER, load));
        agrees("read", load, &runs, |m| m.read_us, die.priority_read_wait() + READ_US);
        agrees("program", load, &runs, |m| m.program_us, die.priority_program_wait() + PROGRAM_US);
    }
}

/// Reads are independent of programs; each read during the pulses suspends the program.
#[test]
fn ideal_suspension() {
    for load in LOADS {
        let (die, runs) = (load.oracle(), runs(Policy::ReadPriority, &free(Scheme::Ideal), load));
        agrees("read", load, &runs, |m| m.read_us, die.preemptive_read_time());
        agrees("program", load, &runs, |m| m.program_us, die.preemptive_program_time());
        agrees("suspensions", load, &runs, |m| m.suspends_per_program, die.suspends_per_program());
    }
}

/// Reads wait for the end of a loop; a suspension follows a loop with a read arrival.
#[test]
fn suspension_at_the_end_of_a_loop() {
    for load in LOADS {
        let (die, runs) = (load.oracle(), runs(Policy::ReadPriority, &free(Scheme::LoopBoundary), load));
        let loops = vec![load.pulse_us(); load.loops as usize];
        agrees("read", load, &runs, |m| m.read_us, die.phase_end_read_time(&loops).unwrap());
        let suspends = suspends_between_pulses(load.reads_per_s * 1e-6, load.loops, load.pulse_us()).unwrap();
        agrees("suspensions", load, &runs, |m| m.suspends_per_program, suspends);
    }
}
