//! Adds the latency of flash operations, by cause, to the latency accounts of host requests.

use interpulse_engine::account::{Account, Cause};
use interpulse_flash::command::{WAITS, Wait};
use interpulse_flash::nand::txn::Txn;

/// The first causes of a request are the flash waits, in the order of `Wait`.
const _: () = {
    let same = [
        (Wait::HostReads, Cause::HostReads),
        (Wait::Programs, Cause::Programs),
        (Wait::Erases, Cause::Erases),
        (Wait::Gc, Cause::Gc),
        (Wait::Stop, Cause::Stop),
        (Wait::Suspend, Cause::Suspend),
        (Wait::Bus, Cause::Bus),
        (Wait::Sensing, Cause::Sensing),
    ];
    assert!(same.len() == WAITS);
    let mut k = 0;
    while k < WAITS {
        assert!(same[k].0 as usize == k && same[k].1 as usize == k);
        k += 1;
    }
};

/// Adds the account of a page read. A request may read flash in several stages.
#[inline]
pub fn book_flash(account: &mut Account, txn: &Txn) {
    for (to, wait) in account.iter_mut().zip(&txn.waits) {
        *to += wait;
    }
    account[Cause::Power as usize] += txn.held;
    account[Cause::Retry as usize] += txn.own;
}

/// Adds the account of a program from its submission to its completion.
#[inline]
pub fn book_program(account: &mut Account, txn: &Txn) {
    for (to, wait) in account.iter_mut().zip(&txn.waits) {
        *to += wait;
    }
    account[Cause::OwnProgram as usize] += txn.own;
}
