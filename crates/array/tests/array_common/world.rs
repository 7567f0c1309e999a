//! Arrays of four drives of two dies whose requests are submitted at chosen instants.

use interpulse_array::array::Array;
use interpulse_engine::{Device, DeviceEvent, EventQueue, Op, Request, SimTime, Tag};
use interpulse_study::case::device_of_several;
use interpulse_study::config::{Case, PlanRequest, read_cases};
use interpulse_study::initial_state::precondition;

const DRIVES: &str = r#"
drive = "a4-mini"
[part]
layers = 4
blocks-per-plane = 40
pages-per-block = 24
page-size = "4KiB"
[geometry]
channels = 2
chips-per-channel = 1
[ftl]
over-provisioning = "60%"
[cache]
size = "1MiB"
[precondition]
fill = "100%"
[audit]
sample = 1
[array]
level = "raid5"
drives = 4
chunk = "16KiB"
[run]
requests = 1
[[flow]]
"#;

fn case(settings: &[(&str, &str)]) -> Case {
    let sets = settings.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
    let request = PlanRequest { text: DRIVES.into(), path: "x.toml".into(), sets, ..PlanRequest::default() };
    read_cases(&request).unwrap_or_else(|why| panic!("{why}")).remove(0)
}

pub struct World {
    pub array: Array,
    events: EventQueue,
}

impl World {
    pub fn new(settings: &[(&str, &str)]) -> World {
        let case = case(settings);
        let state = precondition::precondition(&case.drive, &case.precondition, &mut |_, _| true);
        let mut array = device_of_several(&case, &case.flows, state.expect("nobody stops it").0);
        let mut events = EventQueue::new(array.resources().end);
        array.start(&mut events).expect("it is legal");
        World { array, events }
    }

    pub fn submit(&mut self, op: Op, page: u64, pages: u32) {
        self.array.submit(&mut self.events, 0, Tag(0), Request::new(op, page * 8, pages * 8));
        while self.array.advance(&mut self.events) {}
        self.array.flush(&mut self.events);
    }

    /// Handles all events up to `until`; returns the completed requests with their instants, in ns.
    pub fn run(&mut self, until: u64) -> Vec<(Op, u64)> {
        let mut done = Vec::new();
        while let Some((now, resource)) = self.events.next(SimTime(until)) {
            self.array.handle(&mut self.events, resource);
            while self.array.advance(&mut self.events) {}
            self.array.flush(&mut self.events);
            self.events.settle();
            while let Some(DeviceEvent::Completed(ended)) = self.array.event() {
                done.push((ended.op, now.as_ns()));
                self.array.pop_event();
            }
        }
        self.events.advance_to(SimTime(until));
        done
    }
}
