//! Reclaim groups of FDP: equal parts of the lanes, of which the host names one with each write.
//!
//! A write goes to the lanes of its group, and garbage collection keeps data on its lane. A group whose lanes hold all the
//! valid data that they can hold takes no more: then the write goes to another group, as the host cannot know how full one is.

use crate::ftl::page::blocks::manager::BlockManager;
use crate::ftl::page::blocks::write_streams::Stream;
use crate::ftl::page::placement::lane_selector::LaneSelector;
use crate::numbers::{Lane, SuperBlock};
use std::ops::Range;

/// Reclaim groups of a drive.
pub(crate) struct Groups {
    /// Their number.
    pub(crate) count: u32,
    lanes_of_group: u32,
    /// Handles of each group.
    handles: u32,
    /// Next lane in the rotation of each group.
    next: Vec<u32>,
}

impl Groups {
    /// `count` groups of `lanes` lanes together, with `handles` handles each.
    pub(crate) fn new(count: u32, lanes: u32, handles: u32) -> Groups {
        let lanes_of_group = lanes / count;
        let next = (0..count).map(|group| group * lanes_of_group).collect();
        Groups { count, lanes_of_group, handles, next }
    }

    /// Handle of a class of host data.
    pub(crate) fn handle_of(&self, class: u32) -> u32 {
        class % self.handles
    }

    /// Group of a class of host data.
    pub(crate) fn of_class(&self, class: u32) -> u32 {
        class / self.handles
    }

    /// Group of a lane.
    pub(crate) fn of_lane(&self, lane: Lane) -> u32 {
        lane.0 / self.lanes_of_group
    }

    /// Group of a super block.
    pub(crate) fn of_block(&self, blocks: &crate::ftl::layout::Layout, block: SuperBlock) -> u32 {
        self.of_lane(blocks.lane_of(block).0)
    }

    fn lanes(&self, group: u32) -> Range<u32> {
        group * self.lanes_of_group..(group + 1) * self.lanes_of_group
    }

    /// Next lane for a program of `class` on `stream`: of its group, or of any group if that is full.
    pub(crate) fn next_lane(
        &mut self,
        selector: &mut LaneSelector,
        blocks: &BlockManager,
        idle: bool,
        class: u32,
        stream: Stream,
    ) -> Option<Lane> {
        let group = self.of_class(class);
        let lanes = self.lanes(group);
        let room = |lane| blocks.has_room(lane, stream);
        let of_group = |lane: Lane| lanes.contains(&lane.0) && room(lane);
        selector.rotate_to(self.next[group as usize]);
        let mut found = selector.next_ready(blocks, false, of_group);
        if found.is_none() && lanes.clone().all(|lane| !blocks.accepts_writes(Lane(lane))) {
            return selector.next_ready(blocks, idle, room);
        }
        if found.is_none() && idle {
            found = selector.next_ready(blocks, true, of_group);
        }
        self.next[group as usize] = found.map_or(self.next[group as usize], |lane| lane.0 + 1);
        found
    }
}
