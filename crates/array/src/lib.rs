//! RAID array of simulated SSDs in one virtual time: RAID-0, 1, 5, 6 and 10 like Linux md.
//!
//! ```
//! use interpulse_study::config::{PlanRequest, read_cases};
//!
//! let text = "drive = \"a4-mini\"\n[array]\nlevel = \"raid5\"\ndrives = 4\n[[flow]]\nname = \"reads\"\nread = \"100%\"\nrequests = 1000\n";
//! let request = PlanRequest { text: text.into(), path: "example.toml".into(), ..PlanRequest::default() };
//! let cases = read_cases(&request).expect("the configuration is legal");
//! let drive = cases[0].drive.capacity();
//! let sectors = cases[0].capacity_sectors();
//! // Data of three drives, in whole chunks.
//! assert!(sectors * 512 <= 3 * drive.usable.get() && sectors * 512 > 29 * drive.usable.get() / 10);
//! ```

pub mod array;
pub mod config;
pub mod content_audit;
mod failure;
mod hedging;
mod power_loss;
pub mod raid;
mod stripes;

pub use power_loss::recovery::PowerCut;
