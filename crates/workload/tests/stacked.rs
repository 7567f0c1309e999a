//! Logs of stacked devices (device mapper, md), and the selection of a device.

use crate::common::{ROOMY, drain, file, open};
use interpulse_workload::{TraceSpec, TraceSummary, measure};

/// Writes of a device mapper on one disk, three times, and one write of another partition.
fn mapped() -> String {
    let write = |k: u64| {
        let (up, down) = (1000 + 8 * k, 9000 + 8 * k);
        format!(
            "253,0 1 1 0.{k}00 7 Q W {up} + 8 [x]\n8,16 1 1 0.{k}01 7 A W {down} + 8 <- (253,0) {up}\n\
             8,16 1 1 0.{k}01 7 Q W {down} + 8 [x]\n8,16 1 1 0.{k}02 7 C W {down} + 8 [0]\n\
             253,0 1 1 0.{k}02 7 C W {up} + 8 [0]\n"
        )
    };
    (1..4).map(write).collect::<String>() + "8,16 1 1 0.9 7 Q R 0 + 8 [x]\n"
}

fn sectors(spec: TraceSpec) -> (Vec<u64>, TraceSummary) {
    let mut flow = open(spec, ROOMY).unwrap();
    let seen = drain(&mut flow).iter().map(|next| next.1.sector).collect();
    (seen, flow.trace_summary().unwrap().clone())
}

#[test]
fn requests_of_stacked_devices_count_once_on_the_lowest() {
    let path = file("mapped.txt", mapped().as_bytes());
    let (seen, found) = sectors(TraceSpec::new(&path));
    assert_eq!(seen, [9008, 9016, 9024, 0]);
    assert_eq!((found.rows, found.stacked_rows, found.devices.len()), (4, 3, 1));
    assert!(
        found.assumed.contains("on the lower device only: 253,0 to 8,16")
            && found.assumed.contains("flow.0.device=253,0"),
        "{}",
        found.assumed
    );
    let measured = measure(&TraceSpec::new(&path), &mut |_| true).unwrap().unwrap();
    assert_eq!((measured.statistics.requests, measured.stacked_rows), (4, 3));
    // Completions are doubled too.
    let completed: String =
        mapped().lines().filter(|line| !line.contains(" Q ")).map(|l| l.to_owned() + "\n").collect();
    let (seen, found) = sectors(TraceSpec::new(file("completed.txt", completed.as_bytes())));
    assert_eq!((seen, found.stacked_rows), (vec![9008, 9016, 9024], 3));
}

#[test]
fn a_selected_device_is_read_alone() {
    let path = file("selected.txt", mapped().as_bytes());
    let only = |device: &str| TraceSpec { device: Some(device.to_owned()), ..TraceSpec::new(&path) };
    let (seen, found) = sectors(only("253,0"));
    assert_eq!((seen, found.unselected_rows), (vec![1008, 1016, 1024], 4));
    assert_eq!(sectors(only("8,16")).0, [9008, 9016, 9024, 0]);
    let missing = open(only("8,0"), ROOMY).err().unwrap().to_string();
    assert!(missing.ends_with("flow.0.device selects; legal: 253,0; 8,16"), "{missing}");
}

#[test]
fn devices_are_selected_by_host_and_number() {
    let text = "1,a,0,Read,0,512,0\n2,a,1,Read,512,512,0\n3,b,0,Read,1024,512,0\n";
    let path = file("hosts.msr", text.as_bytes());
    for (device, sector) in [("a", 0), ("a_0", 0), ("a_1", 1), ("b", 2)] {
        assert_eq!(
            sectors(TraceSpec { device: Some(device.to_owned()), ..TraceSpec::new(&path) }).0,
            [sector]
        );
    }
    let path = file("numbers.spc", b"0,7,512,R,1\n3,8,512,R,2\n");
    assert_eq!(sectors(TraceSpec { device: Some("3".to_owned()), ..TraceSpec::new(&path) }).0, [8]);
}

/// A remap alone excludes nothing: the upper device has no requests, or the lower one has none.
#[test]
fn a_partition_or_an_untraced_disk_is_no_stack() {
    let partition = "8,0 1 1 0.1 7 A W 2056 + 8 <- (8,1) 8\n8,0 1 1 0.1 7 Q W 2056 + 8 [x]\n";
    assert_eq!(sectors(TraceSpec::new(file("partition.txt", partition.as_bytes()))).0, [2056]);
    let upper = "253,0 1 1 0.1 7 Q W 8 + 8 [x]\n8,0 1 1 0.1 7 A W 2056 + 8 <- (253,0) 8\n";
    assert_eq!(sectors(TraceSpec::new(file("upper.txt", upper.as_bytes()))).0, [8]);
}

#[test]
fn every_level_of_a_stack_but_the_lowest_is_left_out() {
    let text = "253,1 1 1 0.1 7 Q W 8 + 8 [x]\n253,0 1 1 0.1 7 A W 16 + 8 <- (253,1) 8\n253,0 1 1 0.1 7 Q W 16 + 8 [x]\n\
                8,0 1 1 0.1 7 A W 24 + 8 <- (253,0) 16\n8,0 1 1 0.1 7 Q W 24 + 8 [x]\n";
    let (seen, found) = sectors(TraceSpec::new(file("levels.txt", text.as_bytes())));
    assert_eq!((seen, found.stacked_rows), (vec![24], 2));
}

#[test]
fn a_remap_without_a_source_names_its_line() {
    let text = "8,0 1 1 0.1 7 Q W 8 + 8 [x]\n8,0 1 1 0.1 7 A W 24 + 8\n";
    let error = open(TraceSpec::new(file("remap.txt", text.as_bytes())), ROOMY).err().unwrap().to_string();
    assert!(error.contains("line 2: `remap` is"), "{error}");
}
