//! What the benchmark is asked for.

use clap::Parser;
use std::path::PathBuf;

/// Measures interpulse.
#[derive(Parser)]
#[command(version, about)]
pub struct Args {
    /// Print a JSON array instead of a table.
    #[arg(long)]
    pub json: bool,
    /// A tenth of the requests on a miniature drive: shows that the benchmark works, measures nothing.
    #[arg(long)]
    pub quick: bool,
    /// Times that each row runs; its fastest run counts.
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    pub rounds: u32,
    /// Count instructions per request with callgrind (needs valgrind) instead of timing.
    #[arg(long)]
    pub instructions: bool,
    /// With --instructions: compare with this file and fail if a row needs over 5 % more.
    #[arg(long, value_name = "FILE")]
    pub against: Option<PathBuf>,
    /// Run one row on the state in this folder (used by the benchmark itself).
    #[arg(long, value_name = "NAME", hide = true)]
    pub row: Option<String>,
    /// Folder of the state for --row.
    #[arg(long, value_name = "DIR", hide = true)]
    pub state: Option<PathBuf>,
    /// Requests for --row instead of its own number.
    #[arg(long, value_name = "N", hide = true)]
    pub requests: Option<u64>,
}
