//! Imposed write amplification: one host program brings (WAF - 1) extra ones, on dies drawn at random.

use super::{Flash, Ftl};
use interpulse_engine::Rng;
use interpulse_flash::nand::txn::{Kind, NONE};

/// How much is still to be imposed.
pub(super) struct Imposed {
    waf: f64,
    credit: f64,
    rng: Rng,
}

impl Imposed {
    pub(super) fn new(waf: f64, rng: Rng) -> Imposed {
        Imposed { waf, credit: 0.0, rng }
    }

    /// A host program has been submitted.
    fn earn(&mut self) {
        self.credit += self.waf - 1.0;
    }

    /// The lane of the next extra program that is due, if one is.
    fn next(&mut self, lanes: u32) -> Option<u32> {
        if self.credit < 1.0 {
            return None;
        }
        self.credit -= 1.0;
        Some(self.rng.below(u64::from(lanes)) as u32)
    }
}

impl Ftl {
    /// A host program has been submitted: the extra ones follow it.
    pub(super) fn impose(&mut self, flash: &mut Flash) {
        let lanes = self.tables.layout.lanes;
        let imposed = self.imposed.as_mut().expect("write amplification is imposed");
        imposed.earn();
        while let Some(lane) = self.imposed.as_mut().and_then(|imposed| imposed.next(lanes)) {
            self.submit_program(flash, Kind::GcProgram, lane, NONE);
        }
    }
}
