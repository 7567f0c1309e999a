//! Paths of all dies to power-loss save.

use super::Nand;
use crate::die::hold_up::Ending;
use crate::hold_up::Erases;
use crate::hold_up::die_path::Path;
use crate::suspend::Reload;
use interpulse_engine::{Duration, SimTime};

impl Nand {
    /// Work of each die before it takes save data if power is cut now. Changes nothing.
    pub fn paths_to_save(&self, now: SimTime, erases: Erases) -> Vec<Path> {
        let [program, erase] = self.policies.present();
        let reload = match program.reload {
            Reload::ShadowBuffer(time) => time,
            // The data comes from a cache that is saved anyway, over the bus as in normal operation.
            Reload::Bus => self.timing.page_load * u64::from(self.geometry.pages_per_program),
        };
        let ending = Ending {
            program,
            erase,
            stops_erases: erases == Erases::Stop,
            reload: if program.costs_nothing() { Duration::ZERO } else { reload },
            oldest_write: self.oldest_write,
        };
        self.dies.iter().map(|die| die.path_to_save(now, &ending)).collect()
    }
}
