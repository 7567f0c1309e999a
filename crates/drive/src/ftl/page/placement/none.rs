//! `none`: the host says nothing about the place of its data.

use crate::ftl::page::placement::Placement;

/// No placement handles.
pub struct None;

impl Placement for None {
    fn persistently_isolated(&self) -> Vec<bool> {
        Vec::new()
    }
}
