//! Do queues have their parts of the write cache, and do host reads at a die go by the class of their queue?

use crate::drive_common::zones::zones_of;
use crate::drive_common::{Bench, Cells, closed, filled, little, mix, of_part, part};
use interpulse_drive::cache_writers::CachePartition;
use interpulse_drive::host_interface::queue_classes::{ClassSpec, QueueClass};
use interpulse_drive::host_interface::queues::Arbitration;
use interpulse_drive::spec::DriveSpec;
use interpulse_engine::{Bytes, Duration};
use interpulse_flash::nand::flow_order::HostOrder;
use interpulse_flash::nand::queue::Policy;
use interpulse_workload::FlowSpec;

/// A flow of 4 KiB requests on its own queue.
fn on_queue(queue: u32, depth: u32, read_share: f64) -> FlowSpec {
    FlowSpec { queue, ..closed(&format!("q{queue}"), depth, mix(read_share)) }
}

/// [`little`] with two queues and 192 units of write cache.
fn two_queues(partition: CachePartition) -> DriveSpec {
    let mut spec = little();
    spec.host.queue_weights = vec![1, 1];
    (spec.cache.size, spec.cache.partition) = (Bytes::kib(4 * 192), partition);
    spec
}

/// A flow that floods the cache makes the writes of another one wait, unless that has its own part: then its writes, one at a time,
/// take what they take alone.
#[test]
fn a_flood_fills_its_own_part_of_the_cache() {
    let alone = {
        let spec = two_queues(CachePartition::Shared);
        let mut bench = Bench::new(&spec, filled(&spec, 1.0), &[on_queue(0, 1, 0.0)], 1);
        bench.run_requests(1);
        bench.host.window.flows[0].write.sum_ns()
    };
    let flood = |partition| {
        let spec = two_queues(partition);
        let flows = [on_queue(0, 256, 0.0), FlowSpec { limit: Some(90), ..on_queue(1, 1, 0.0) }];
        let mut bench = Bench::new(&spec, filled(&spec, 0.5), &flows, 1);
        bench.run_for(Duration::from_ms(20));
        let writes = &bench.host.window.flows[1].write;
        let (count, sum) = (u128::from(writes.count()), writes.sum_ns());
        bench.finish();
        (count, sum / count.max(1))
    };
    let (count, mean) = flood(CachePartition::Shared);
    assert!(mean > 20 * alone, "{count} writes of {mean} ns, {alone} ns alone");
    let (count, mean) = flood(CachePartition::ByQueue);
    // Now and then the data of a few writes of the flood is on the link before theirs.
    assert!(count == 90 && mean < 2 * alone, "{count} writes of {mean} ns, {alone} ns alone");
}

/// One queue uses its half of the cache, and not a slot more.
#[test]
fn a_queue_has_no_more_than_its_part() {
    for (partition, most) in [(CachePartition::Shared, 192), (CachePartition::ByQueue, 96)] {
        let spec = two_queues(partition);
        let mut bench = Bench::new(&spec, filled(&spec, 1.0), &[on_queue(1, 512, 0.0)], 1);
        let mut used = 0;
        for _ in 0..20_000 {
            bench.step(bench.events.horizon());
            used = used.max(bench.host.device.cache_used());
        }
        assert_eq!(used, most);
        bench.finish();
    }
}

#[test]
fn parts_that_hold_too_little_are_refused() {
    let mut spec = two_queues(CachePartition::ByQueue);
    spec.host.queue_weights = vec![1; 20];
    let why = spec.check().unwrap_err();
    assert_eq!(why.keys[0], "cache.size");
    assert!(why.message.contains("in 20 parts gives each 9 units"), "{}", why.message);
}

/// Writes of a zone from two queues would overtake each other.
#[test]
fn zones_take_no_parts_of_the_cache() {
    let mut spec = two_queues(CachePartition::ByQueue);
    assert_eq!(spec.check(), Ok(()));
    spec.ftl.zones = Some(zones_of(1));
    assert_eq!(spec.check().unwrap_err().keys, ["cache.partition", "ftl.family"]);
}

/// One die, two queues of these classes with weights 8, 4 and 2.
fn one_die(classes: [QueueClass; 2], host_order: HostOrder) -> DriveSpec {
    let mut spec = of_part(part(Cells::Tlc, 1, 24, 8), 1, 1, 1);
    spec.host.queue_weights = vec![1, 1];
    spec.host.arbitration = Arbitration::Classes;
    let (queue_classes, class_weights) = (classes.to_vec(), vec![8, 4, 2]);
    spec.host.classes = Some(ClassSpec { queue_classes, class_weights, arbitration_burst: 1 });
    spec.nand.host_order = host_order;
    spec
}

/// Completions of the two flows, which are equal but for their queue, in so many completions.
fn shares(spec: &DriveSpec, count: u64) -> [u64; 2] {
    let flows = [on_queue(0, 32, 1.0), on_queue(1, 32, 1.0)];
    let mut bench = Bench::new(spec, filled(spec, 1.0), &flows, 3);
    bench.run_requests(200);
    let done = |bench: &Bench, flow: usize| {
        let of = &bench.host.window.flows[flow];
        of.read.count()
    };
    let before = [0, 1].map(|flow| done(&bench, flow));
    bench.run_requests(count);
    let after = [0, 1].map(|flow| done(&bench, flow));
    bench.finish();
    [after[0] - before[0], after[1] - before[1]]
}

/// A die always has reads of both queues to choose from: classes get the shares of their weights, and urgent reads all of it.
#[test]
fn reads_of_a_die_go_by_the_class_of_their_queue() {
    use QueueClass::{High, Low, Medium, Urgent};
    let cases = [
        ([High, Low], HostOrder::Arrival, [500, 500]),
        ([High, Low], HostOrder::QueueClasses, [800, 200]),
        ([Medium, Low], HostOrder::QueueClasses, [667, 333]),
        ([Low, Low], HostOrder::QueueClasses, [500, 500]),
        ([Urgent, High], HostOrder::QueueClasses, [1000, 0]),
    ];
    for (classes, order, expected) in cases {
        let found = shares(&one_die(classes, order), 1000);
        let close = found.iter().zip(expected).all(|(&found, expected)| found.abs_diff(expected) <= 12);
        assert!(close, "{classes:?}, {order:?}: {found:?}, not {expected:?}");
    }
}

#[test]
fn an_order_by_class_needs_classes_and_a_policy_that_orders() {
    let mut spec = one_die([QueueClass::High, QueueClass::Low], HostOrder::QueueClasses);
    assert_eq!(spec.check(), Ok(()));
    spec.nand.policy = Policy::Fifo;
    assert_eq!(spec.check().unwrap_err().keys, ["schedule.host-order", "schedule.policy"]);
    (spec.nand.policy, spec.host.classes) = (Policy::HostFirst, None);
    assert_eq!(spec.check().unwrap_err().keys, ["schedule.host-order", "host.arbitration"]);
}
