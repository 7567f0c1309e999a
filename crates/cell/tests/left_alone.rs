//! *What becomes of word lines that are programmed and left alone?* The job behind Zambelli et al. 2021, Figure 9b.

use interpulse_cell::jobs;
use serde_json::{Value, json};

fn request(hours: &[f64]) -> Value {
    json!({
        "seed": 1, "preset": "a4-tlc", "page_type": "center", "word_lines": 8, "cells": 16384,
        "hours": hours, "celsius": 25.0,
    })
}

/// Errors of all word lines at each age.
fn errors(told: &Value, key: &str) -> Vec<u64> {
    let sum = |age: &Value| {
        let lines = age["word_lines"].as_array().expect("word lines");
        assert!(lines.len() == 8 && lines.iter().all(|line| line["bits"] == 16384));
        lines.iter().map(|line| line[key].as_u64().expect("a count")).sum()
    };
    told["ages"].as_array().expect("ages").iter().map(sum).collect()
}

#[test]
fn errors_grow_with_time_and_calibrated_reads_have_fewer() {
    let told = jobs::run("aged", &request(&[0.0, 24.0, 8760.0])).expect("it is legal");
    let (default, calibrated) = (errors(&told, "errors_default"), errors(&told, "errors_calibrated"));
    assert!(default[0] < default[2] && calibrated[0] < calibrated[2], "{default:?} {calibrated:?}");
    assert!(
        calibrated.iter().zip(&default).all(|(best, frozen)| best <= frozen),
        "{default:?} {calibrated:?}"
    );
    assert_eq!(told, jobs::run("aged", &request(&[0.0, 24.0, 8760.0])).expect("it is legal"));
}

#[test]
fn a_mistake_names_the_field() {
    for (key, value, part) in [
        ("hours", json!([-1.0]), "hours = -1: from 0 to 1000000"),
        ("celsius", json!(300.0), "celsius = 300: from -55 to 150"),
        ("page_type", json!("top"), "page_type = 'top': lower, center or upper"),
        ("word_lines", json!(0), "word_lines = 0: from 1 to 100000"),
        ("cells", json!(1), "cells = 1: from 64 to 1048576"),
        ("cycles", json!(-1), "cycles = -1: from 0 to 1000000"),
        ("hour", json!(1), "unknown field `hour`"),
    ] {
        let mut asked = request(&[0.0]);
        asked[key] = value;
        let said = jobs::run("aged", &asked).expect_err(key).to_string();
        assert!(said.contains(part), "{said}");
    }
}
