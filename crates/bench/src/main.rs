//! The benchmark's steps as a plain program, for profilers: `rows`, `prepare NAME DIR` and `run NAME DIR [AMOUNT]`, each
//! with `--quick`. `interpulse bench` takes the same steps and makes a benchmark of them.

use std::process::ExitCode;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match interpulse_bench::step(&words) {
        Ok(told) => {
            println!("{told}");
            ExitCode::SUCCESS
        }
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}
