//! Tests of reprogramming against the measurements of Gao et al., MICRO 2019: slices of a block in the orders of the paper.

use interpulse_cell::jobs;
use interpulse_flash::errors::{Conditions, ErrorTable};
use serde_json::{Value, json};

/// Page errors (default, calibrated) of layers from 24 on.
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

/// Table 3: retention adds errors.
#[test]
fn a_year_of_retention_adds_errors() {
    let request = json!({
        "seed": 7, "preset": "b17a-tlc", "super_layer": 2, "first_layer": 0, "layers": 2, "cells": 131_072,
        "cycles": 1000, "other_chip": true, "hours": [8760], "celsius": 40,
    });
    let answer = jobs::run("reprogram", &request).expect("it is legal");
    let (before, after) = (calibrated(&errors(&answer["pages"])), calibrated(&errors(&answer["aged"][0])));
    assert!(after.1 > 2.0 * before.1, "{before:?}, {after:?}");
}

/// Each age counts from the program.
#[test]
fn ages_do_not_add_up() {
    let aged = |hours: Value| {
        let request = json!({
            "seed": 7, "preset": "b17a-tlc", "super_layer": 1, "first_layer": 0, "layers": 1, "cells": 16_384,
            "cycles": 1000, "other_chip": true, "hours": hours, "celsius": 40,
        });
        jobs::run("reprogram", &request).expect("it is legal")["aged"].clone()
    };
    let three = aged(json!([24, 720, 8760]));
    assert_eq!(three.as_array().map(Vec::len), Some(3));
    assert_eq!(three[2], aged(json!([8760]))[0]);
    assert_ne!(three[0], three[2]);
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
fn errors_name_legal_values() {
    let whole = json!({ "seed": 1, "preset": "b17a-tlc", "super_layer": 2, "first_layer": 0, "layers": 2, "cells": 64 });
    for (key, value, parts) in [
        ("layers", json!(3), vec!["whole super layers of 2"]),
        ("first_layer", json!(1), vec!["whole super layers of 2"]),
        ("first_layer", json!(64), vec!["first_layer = 64", "63"]),
        ("cells", json!(8), vec!["cells = 8", "64"]),
        ("preset", json!("b18a"), vec!["b18a", "b17a-tlc"]),
        ("set", json!([["cell.pattern.pas", "1"]]), vec!["cell.pattern.pas"]),
        ("speed", json!(1), vec!["reprogram", "speed"]),
        ("hours", json!([24.0, -1.0]), vec!["hours = -1"]),
        ("steps", json!(5), vec!["steps = 5", "4"]),
    ] {
        let mut request = whole.clone();
        request[key] = value;
        let message = jobs::run("reprogram", &request).expect_err("it is wrong").to_string();
        assert!(parts.iter().all(|part| message.contains(part)), "{message}");
    }
}

/// The error table of one wear, one height and two ages, with none, one and two updates by two states each.
#[test]
fn a_table_grows_with_reprograms_and_retention() {
    let cells = 65_536;
    let piece = |reprograms: u32| {
        let request = json!({
            "seed": 7, "preset": "b17a-tlc", "super_layer": if reprograms == 0 { 0 } else { 2 },
            "steps": 2 * reprograms, "first_layer": 24, "layers": 2, "cells": cells, "cycles": 1000,
            "other_chip": true, "hours": [24, 8760], "celsius": 40,
        });
        jobs::run("reprogram", &request).expect("it is legal")["aged"].clone()
    };
    let request = json!({
        "seed": 7, "preset": "b17a-tlc", "title": "cells", "source": "a test", "cycles": [1000],
        "hours": [24, 8760], "celsius": 40, "reprograms": [0, 1, 2], "layer_fraction": [0.4], "cells": cells,
        "pieces": [piece(0), piece(1), piece(2)],
    });
    let made = jobs::run("reprogram-table", &request).expect("it is legal");
    let table = ErrorTable::from_toml(made["toml"].as_str().expect("a text"), "made").expect("a table");
    assert_eq!(ErrorTable::from_toml(&table.to_toml(), "again").as_ref(), Ok(&table));
    let rate = |hours, reprograms, page, attempt| {
        table.rber(&Conditions { cycles: 1000.0, hours, reprograms, layer: 0.4, page_type: page, attempt })
    };
    let calibrated = |hours, reprograms| (0..3).map(|page| rate(hours, reprograms, page, 1)).sum::<f64>();
    let by_count = [0.0, 1.0, 2.0].map(|reprograms| calibrated(24.0, reprograms));
    assert!(by_count.is_sorted_by(|a, b| 1.1 * a < *b), "{by_count:?}");
    for reprograms in [0.0, 1.0, 2.0] {
        assert!(calibrated(8760.0, reprograms) > 1.5 * calibrated(24.0, reprograms));
        for page in 0..3 {
            assert!(rate(24.0, reprograms, page, 1) < 0.2 * rate(24.0, reprograms, page, 0));
        }
    }
    // Two pages of a reprogrammed word line, three page types in the table.
    assert_eq!(rate(24.0, 2.0, 1, 1), rate(24.0, 2.0, 2, 1));
    assert_ne!(rate(24.0, 0.0, 1, 1), rate(24.0, 0.0, 2, 1));
}
