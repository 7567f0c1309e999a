//! Owners of flash transactions: what receives the outcome of each.

use crate::numbers::{FillId, GcReadId, GroupId, JobId, SuperBlock, TranslationPage};
use interpulse_engine::RequestId;
use interpulse_flash::nand::txn::{self, Txn};

/// Declares the classes of owners, each with its number in a transaction and the type of its index.
macro_rules! owners {
    ($($(#[doc = $doc:literal])* $class:literal $name:ident($id:ident);)*) => {
        /// Receiver of the outcome of a transaction.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Owner {
            /// None: a synthetic program or erase, whose time alone matters.
            Nothing,
            $($(#[doc = $doc])* $name($id),)*
        }

        impl From<Owner> for txn::Owner {
            #[inline]
            fn from(owner: Owner) -> txn::Owner {
                match owner {
                    Owner::Nothing => txn::Owner::default(),
                    $(Owner::$name($id(index)) => txn::Owner { class: $class, index },)*
                }
            }
        }

        impl From<txn::Owner> for Owner {
            #[inline]
            fn from(txn::Owner { class, index }: txn::Owner) -> Owner {
                match class {
                    0 => Owner::Nothing,
                    $($class => Owner::$name($id(index)),)*
                    _ => unreachable!("class {class} of owners"),
                }
            }
        }
    };
}

owners! {
    /// Host request: one of its page reads.
    1 Host(RequestId);
    /// Page read of the FTL, for garbage collection or for a program that relocates the page.
    2 Gc(GcReadId);
    /// Host command that waits for a translation page.
    3 Map(RequestId);
    /// Program of host data or relocated units.
    4 Program(JobId);
    /// Group of programs to the metadata region.
    5 Metadata(GroupId);
    /// Erase of a super block.
    6 Erase(SuperBlock);
    /// Read of a translation page that no command began.
    7 Translation(TranslationPage);
    /// Program of translation pages.
    8 TranslationProgram(JobId);
    /// Program of a copy of a super block: of a zone, or of a merge.
    9 Repair(JobId);
    /// Page read of read-ahead.
    10 ReadAhead(FillId);
}

impl Owner {
    /// The owner of a transaction.
    #[inline]
    pub fn of(txn: &Txn) -> Owner {
        txn.owner().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transaction_returns_the_owner_it_was_given_whatever_its_index() {
        for index in [0, 1, 1 << 31, u32::MAX] {
            let (request, job) = (RequestId(index), JobId(index));
            let owners = [
                Owner::Nothing,
                Owner::Host(request),
                Owner::Gc(GcReadId(index)),
                Owner::Map(request),
                Owner::Program(job),
                Owner::Metadata(GroupId(index)),
                Owner::Erase(SuperBlock(index)),
                Owner::Translation(TranslationPage(index)),
                Owner::TranslationProgram(job),
                Owner::Repair(job),
                Owner::ReadAhead(FillId(index)),
            ];
            let mut classes: Vec<u8> = owners.map(|owner| txn::Owner::from(owner).class).into();
            for owner in owners {
                let mut txn = Txn::new(txn::Kind::HostRead, interpulse_flash::DieId(0));
                assert_eq!(Owner::of(&txn), Owner::Nothing);
                txn.set_owner(owner.into());
                assert_eq!(Owner::of(&txn), owner);
            }
            classes.dedup();
            assert_eq!(classes.len(), owners.len());
        }
    }
}
