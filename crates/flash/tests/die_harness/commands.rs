//! Row-driven test: every row of the command table completes on a die.

use crate::common::*;
use interpulse_flash::DieId;
use interpulse_flash::command::{Class, Effect, Kind};
use interpulse_flash::ids::BlockId;
use interpulse_flash::nand::txn::Txn;
use interpulse_flash::suspend::Scheme;

/// A transaction of this kind with the address that its effect asks for.
fn of(kind: Kind) -> Txn {
    but(Txn::new(kind, DieId(0)), |t| match kind.command().effect {
        Effect::Reads => {
            t.block = BlockId(0);
            t.set_units(1);
        }
        Effect::Erases => t.block = BlockId(7),
        Effect::Programs => t.block = BlockId(4),
        Effect::Nothing => {}
    })
}

#[test]
fn every_command_completes_alone_and_behind_every_other() {
    for config in [config(), suspending(Scheme::Ideal, &part())] {
        for first in Kind::ALL {
            let mut alone = Bench::new(&part(), config.clone(), 1);
            alone.at(0, of(first)).run();
            assert_eq!((alone.done.len(), alone.nand.counters.operations()), (1, 1), "{first:?}");
            assert_eq!(alone.nand.pending(), 0, "{first:?}");
            for second in Kind::ALL {
                let mut both = Bench::new(&part(), config.clone(), 1);
                let after = but(of(second), |t| t.page = if t.block == BlockId(4) { 3 } else { 0 });
                let after = if first.command().effect == Effect::Programs { after } else { of(second) };
                both.at(0, of(first)).at(100_000, after).run();
                assert_eq!(
                    (both.done.len(), both.nand.counters.operations()),
                    (2, 2),
                    "{first:?}, {second:?}"
                );
            }
        }
    }
}

#[test]
fn names_and_classes_identify_rows() {
    for kind in Kind::ALL {
        assert_eq!(Kind::named(kind.command().name), Some(kind));
        assert!(Class::ALL.contains(&kind.command().class));
    }
}
