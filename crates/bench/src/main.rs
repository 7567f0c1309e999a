//! Benchmark program for profilers: `rows`, `prepare NAME DIR` and `run NAME DIR [AMOUNT]`, each with `--quick`.
//! `interpulse bench` uses the same steps.

use std::process::ExitCode;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match interpulse_bench::step(&words) {
        Ok(row) => {
            println!("{row}");
            ExitCode::SUCCESS
        }
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}
