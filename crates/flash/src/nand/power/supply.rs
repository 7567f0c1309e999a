//! Power state of an array: part figures, tally, budget.

use super::budget::Budget;
use super::config::PowerConfig;
use super::tally::Tally;
use crate::parts::power::PowerSpec;
use interpulse_engine::Duration;

/// Power state of an array.
#[derive(Clone)]
pub(in crate::nand) struct Supply {
    pub(in crate::nand) part: PowerSpec,
    pub(in crate::nand) tally: Tally,
    pub(in crate::nand) budget: Option<Box<Budget>>,
}

impl Supply {
    pub(in crate::nand) fn new(
        config: &PowerConfig,
        part: &PowerSpec,
        setup: Duration,
        dies: u32,
        channels: u32,
    ) -> Supply {
        Supply {
            part: part.clone(),
            tally: Tally::default(),
            budget: Budget::new(config, part, setup, dies, channels).map(Box::new),
        }
    }
}
