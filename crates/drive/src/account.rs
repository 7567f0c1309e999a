//! What the flash array adds to the account of a request.

use interpulse_engine::account::{Account, Cause};
use interpulse_flash::command::WAITS;
use interpulse_flash::nand::txn::Txn;

/// Copies the flash part of the account of a read.
#[inline]
pub fn book_flash(account: &mut Account, txn: &Txn) {
    account[..WAITS].copy_from_slice(&txn.waits);
    account[Cause::Power as usize] = txn.held;
}

/// Adds the account of a program from its submission to its completion.
#[inline]
pub fn book_program(account: &mut Account, txn: &Txn) {
    for (to, wait) in account.iter_mut().zip(&txn.waits) {
        *to += wait;
    }
    account[Cause::OwnProgram as usize] += txn.own;
}
