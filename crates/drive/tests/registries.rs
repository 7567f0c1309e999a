//! Is every exchangeable thing of a drive one file and one line: a row that can be chosen by its name and read back? And do
//! all victim policies keep the contract?

use crate::ftl_common::{geometry, stream, victims};
use interpulse_drive::ftl::layout::Layout;
use interpulse_drive::ftl::page::gc::victim::{BlockHistory, GcPolicy};
use interpulse_drive::ftl::page::mapping::table::Map;
use interpulse_drive::ftl::page::placement::stripe::Allocation;
use interpulse_drive::ftl::page::separation::HotnessPolicy;
use interpulse_drive::ftl::page::slc::{Admission, SlcBlocks};
use interpulse_drive::numbers::SuperBlock;
use interpulse_drive::spec::Acknowledge;
use interpulse_flash::errors::Retry;
use interpulse_settings::{Document, Row};
use proptest::prelude::*;
use std::path::Path;

#[test]
fn every_victim_policy_has_its_file_and_is_chosen_by_its_name() {
    for (k, (name, policy, doc)) in GcPolicy::all().into_iter().enumerate() {
        assert_eq!(policy.name(), name);
        assert!(!doc.is_empty() && GcPolicy::ROWS[..k].iter().all(|other| other.name != name), "{name}");
        let file = format!("src/ftl/page/gc/victim/{}.rs", name.replace('-', "_"));
        assert!(Path::new(env!("CARGO_MANIFEST_DIR")).join(&file).is_file(), "{file}");
        let chosen = Document::set("gc", name).unwrap().declaring();
        assert_eq!(chosen.top().policy("gc", "", None, GcPolicy::ROWS).unwrap(), policy);
    }
}

/// Each row of a registry is documented, and has its file in `folder`.
fn documented<T>(rows: &[Row<T>], folder: &str) {
    for (k, row) in rows.iter().enumerate() {
        assert!(!row.doc.is_empty() && rows[..k].iter().all(|other| other.name != row.name), "{}", row.name);
        let file = format!("{folder}/{}.rs", row.name.replace('-', "_"));
        assert!(Path::new(env!("CARGO_MANIFEST_DIR")).join(&file).is_file(), "{file}");
    }
}

#[test]
fn every_row_has_its_file() {
    documented(HotnessPolicy::ROWS, "src/ftl/page/separation");
    documented(SlcBlocks::ROWS, "src/ftl/page/slc");
    documented(Admission::ROWS, "src/ftl/page/slc/admission");
    documented(Acknowledge::ROWS, "src/spec/acknowledge");
    documented(Retry::ROWS, "../flash/src/errors/retry");
    for (name, policy, _) in HotnessPolicy::all() {
        assert_eq!(policy.name(), name);
        assert_eq!(
            policy.filter(&Layout::new(&geometry(2, 8), 1, 0)).map_or(0, |of| of.levels()),
            policy.levels()
        );
    }
    for (name, way, _) in Acknowledge::all() {
        assert_eq!(way.name(), name);
        assert!(
            !(way.absorbs() && way.waits_for_programs()),
            "{name}: what waits for its program is programmed"
        );
    }
}

#[test]
fn every_order_is_chosen_by_its_name() {
    for (name, allocation, doc) in Allocation::all() {
        assert!(!doc.is_empty());
        let document = Document::set("allocation", &name).unwrap();
        assert_eq!(Allocation::read(&mut document.top()).unwrap(), allocation);
    }
}

proptest! {
    /// A policy takes a block that may be collected, of its own lane, whenever there is one.
    #[test]
    fn every_policy_takes_a_candidate_of_its_lane(
        blocks in prop::collection::vec((any::<bool>(), 0u32..=64, 0u64..100), 1..40),
    ) {
        let mut map = Map::new(64, blocks.len() as u32 + 2, 64);
        let mut closed = vec![0; blocks.len() + 2];
        // The lane is blocks 1 .. n; those around it belong to others, and would be everybody's choice.
        map.set_candidate(SuperBlock(0), true);
        map.set_candidate(SuperBlock(blocks.len() as u32 + 1), true);
        for (i, &(candidate, valid, at)) in blocks.iter().enumerate() {
            map.set_candidate(SuperBlock(i as u32 + 1), candidate);
            map.weight[i + 1] |= valid;
            closed[i + 1] = at;
        }
        for policy in victims(&[1, 2, 30]) {
            let lane = SuperBlock(1)..SuperBlock(blocks.len() as u32 + 1);
            let cycles = vec![0; closed.len()];
            let history = BlockHistory { closed: &closed, clock: 100, cycles: &cycles };
            match policy.select(&map, history, lane, 64, &mut stream("victims", 0)) {
                Some(block) => prop_assert!((1..=blocks.len()).contains(&block.index()) && blocks[block.index() - 1].0),
                None => prop_assert!(blocks.iter().all(|block| !block.0), "{:?}", policy),
            }
        }
    }
}
