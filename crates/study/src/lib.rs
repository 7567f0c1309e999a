//! Simulation cases: configuration, initial state, run, report and recording.
//!
//! ```
//! use interpulse_study::config::{PlanRequest, read_cases};
//!
//! let text = "drive = \"a4-mini\"\n[[flow]]\nname = \"reads\"\nread = \"100%\"\nrequests = 1000\n";
//! let request = PlanRequest { text: text.into(), path: "example.toml".into(), ..PlanRequest::default() };
//! let cases = read_cases(&request).expect("the configuration is legal");
//! assert_eq!(cases[0].name, "run");
//! assert_eq!(cases[0].drives(), 1);
//! ```

pub mod case;
pub mod catalog;
pub mod config;
pub mod control;
pub mod die_script;
pub mod initial_state;
pub mod machine;
pub mod plan;
pub mod record;
pub mod report;
pub mod run;
pub mod run_target;
pub mod runner;
mod trace_file;
pub mod trace_tools;
pub mod traces;
