//! *Does reprogramming cost what Gao et al., MICRO 2019, measured?* Parts of a block in the paper's orders, whole pages.

use interpulse_cell::jobs;
use serde_json::{Value, json};

/// Page errors, default and calibrated, of layers from 24 on.
fn pages(super_layer: u32, layers: u32, seed: u64) -> Vec<(u64, u64)> {
    let request = json!({
        "seed": seed, "preset": "b17a-tlc", "super_layer": super_layer, "first_layer": 24, "layers": layers,
        "cells": 131_072,
    });
    errors(&jobs::run("reprogram", &request).expect("it is legal")["pages"])
}

fn errors(pages: &Value) -> Vec<(u64, u64)> {
    let count = |page: &Value, key: &str| page[key].as_u64().expect("a count");
    let pages = pages.as_array().expect("a list");
    pages.iter().map(|page| (count(page, "errors_default"), count(page, "errors_calibrated"))).collect()
}

fn calibrated(pages: &[(u64, u64)]) -> (u64, f64) {
    let all = pages.iter().map(|page| page.1);
    (all.clone().max().expect("there are pages"), all.sum::<u64>() as f64 / pages.len() as f64)
}

/// Table 2 within a factor of two: a sample of 4 to 6 layers is small for the maxima.
#[test]
fn two_layers_are_usable_and_four_are_not() {
    let near = |ours: f64, paper: f64| (0.5..2.0).contains(&(ours / paper));
    let (one, two, four) = (pages(1, 4, 7), pages(2, 6, 7), pages(4, 4, 7));
    assert_eq!((one.len(), two.len(), four.len()), (4 * 4 * 2, 6 * 4 * 2, 4 * 4 * 2));
    let ((one_max, one_mean), (two_max, two_mean), (four_max, _)) =
        (calibrated(&one), calibrated(&two), calibrated(&four));
    assert!(near(one_max as f64, 10.0) && near(one_mean, 2.0), "one layer: {one_max}, {one_mean}");
    assert!(near(two_max as f64, 46.0) && near(two_mean, 9.0), "two layers: {two_max}, {two_mean}");
    assert!(four_max > 1000, "four layers: {four_max}");
    let default = one.iter().map(|page| page.0).sum::<u64>() as f64 / one.len() as f64;
    assert!(near(default, 432.0), "one layer, default reads: {default}");
}

#[test]
fn the_conventional_order_is_the_best() {
    let pages = pages(0, 4, 7);
    assert_eq!(pages.len(), 4 * 4 * 3);
    let (max, mean) = calibrated(&pages);
    assert!((0.5..1.5).contains(&mean) && max <= 9, "{max}, {mean}");
    assert!(pages.iter().all(|(default, calibrated)| calibrated <= default));
}

/// Table 3: retention adds errors, and the part after it has as many pages as before.
#[test]
fn a_year_of_retention_adds_errors() {
    let request = json!({
        "seed": 7, "preset": "b17a-tlc", "super_layer": 2, "first_layer": 0, "layers": 2, "cells": 131_072,
        "cycles": 1000, "other_chip": true, "hours": 8760, "celsius": 40,
    });
    let answer = jobs::run("reprogram", &request).expect("it is legal");
    let (before, after) = (calibrated(&errors(&answer["pages"])), calibrated(&errors(&answer["aged"])));
    assert!(after.1 > 2.0 * before.1, "{before:?}, {after:?}");
}

#[test]
fn the_histogram_has_every_cell_twice() {
    let request = json!({
        "seed": 7, "preset": "b17a-tlc", "super_layer": 1, "first_layer": 3, "layers": 2, "cells": 4096,
        "histogram_bin": 4,
    });
    let answer = jobs::run("reprogram", &request).expect("it is legal");
    let states = answer["histogram"]["states"].as_array().expect("eight states");
    let cells =
        |state: &Value| state.as_array().expect("bins").iter().map(|n| n.as_u64().expect("a count")).sum();
    let cells: Vec<u64> = states.iter().map(cells).collect();
    // Once after the initial program on ER to P3, once at the end on P4 to P7.
    assert_eq!(cells[..4], cells[4..]);
    assert_eq!(cells.iter().sum::<u64>(), 2 * 2 * 4 * 4096);
    assert_eq!(
        answer,
        jobs::run("reprogram", &request).expect("it is legal"),
        "the same request, the same answer"
    );
}

#[test]
fn mistakes_say_what_is_legal() {
    let whole = json!({ "seed": 1, "preset": "b17a-tlc", "super_layer": 2, "first_layer": 0, "layers": 2, "cells": 64 });
    for (key, value, parts) in [
        ("layers", json!(3), vec!["whole super layers of 2"]),
        ("first_layer", json!(1), vec!["whole super layers of 2"]),
        ("first_layer", json!(64), vec!["first_layer = 64", "63"]),
        ("cells", json!(8), vec!["cells = 8", "64"]),
        ("preset", json!("b18a"), vec!["b18a", "b17a-tlc"]),
        ("set", json!([["cell.pattern.pas", "1"]]), vec!["cell.pattern.pas"]),
        ("speed", json!(1), vec!["reprogram", "speed"]),
        ("hours", json!(-1.0), vec!["hours = -1"]),
    ] {
        let mut request = whole.clone();
        request[key] = value;
        let said = jobs::run("reprogram", &request).expect_err("it is wrong").to_string();
        assert!(parts.iter().all(|part| said.contains(part)), "{said}");
    }
}
