//! Cell benchmark: program pulses with verifies on the 128 Ki cells of a word line.

use interpulse_cell::cells::Cells;
use interpulse_cell::coefficients::Coefficients;
use interpulse_cell::program;
use interpulse_study::run::thread_cpu_s;
use serde_json::{Value, json};

/// Name of the row.
pub const NAME: &str = "cell-pulses";
/// Seconds per round.
pub const ROUND_S: f64 = 2.5;
/// Cells of a word line of 16 KiB pages.
const CELLS: usize = 131_072;
/// Word lines of a measurement and of a smoke test.
pub const WORD_LINES: [u64; 2] = [200, 4];
/// Required rate per core.
const LEAST_PER_CPU_S: f64 = 200e6;

/// Programs `word_lines` word lines and returns the row; only pulses and verifies are timed, and every pulse counts
/// all cells.
pub fn run(word_lines: u64) -> Result<Value, String> {
    let of = Coefficients::preset("a4-tlc").map_err(|e| e.to_string())?;
    let (mut pulses, mut seconds) = (0u64, 0.0f64);
    for key in 0..word_lines {
        let mut cells = Cells::erased(&of, CELLS, key, 0);
        let data = cells.random_data(0, 0..8);
        let start = thread_cpu_s();
        pulses += u64::from(program::program(&of, &mut cells, &data, 0));
        seconds += thread_cpu_s() - start;
    }
    let cell_pulses = pulses * CELLS as u64;
    Ok(
        json!({ "name": NAME, "cpu_s": seconds, "cell_pulses": cell_pulses, "cell_pulses_per_cpu_s": cell_pulses as f64 / seconds }),
    )
}

/// Whether the row is fast enough.
pub fn check(row: &Value) -> Result<(), String> {
    let rate = row["cell_pulses_per_cpu_s"].as_f64().unwrap_or(0.0);
    if rate < LEAST_PER_CPU_S {
        return Err(format!(
            "{NAME}: {:.0} million per CPU second, fewer than {:.0}",
            rate / 1e6,
            LEAST_PER_CPU_S / 1e6
        ));
    }
    Ok(())
}
