//! The array on the energy of capacitors: what each die does before it takes save data.

use super::Nand;
use crate::die::hold_up::Ending;
use crate::hold_up::Erases;
use crate::hold_up::path::Path;
use crate::suspend::Reload;
use interpulse_engine::{Duration, SimTime};

impl Nand {
    /// What each die has to do before it takes save data if power is cut now. Changes nothing.
    pub fn paths_to_save(&self, now: SimTime, erases: Erases) -> Vec<Path> {
        let reload = match self.config.program_suspend.reload {
            Reload::ShadowBuffer(time) => time,
            // What is sent again comes from a cache that is saved anyway: the bus is waited for as in normal operation.
            Reload::Bus => self.timing.page_load * u64::from(self.geometry.pages_per_program),
        };
        let ending = Ending {
            program: &self.config.program_suspend,
            erase: &self.config.erase_suspend,
            stops_erases: erases == Erases::Stop,
            reload: if self.config.program_suspend.costs_nothing() { Duration::ZERO } else { reload },
            oldest_write: self.oldest_write,
        };
        self.dies.iter().map(|die| die.path_to_save(now, &ending)).collect()
    }
}
