#![allow(missing_docs)]
use interpulse_cell::jobs;
use serde_json::{Value, json};
fn main() {
    let get = |k: &str, d: &str| std::env::var(k).unwrap_or(d.into());
    let set: Vec<Value> = std::env::args()
        .skip(1)
        .map(|a| {
            let (k, v) = a.split_once('=').unwrap();
            json!([k, v])
        })
        .collect();
    let cells: u32 = get("COUNT", "131072").parse().unwrap();
    let pieces: Vec<(u32, u32)> = get("PIECES", "0:6,24:6,48:6")
        .split(',')
        .map(|p| {
            let (a, b) = p.split_once(':').unwrap();
            (a.parse().unwrap(), b.parse().unwrap())
        })
        .collect();
    let seed: u64 = get("SEED", "1").parse().unwrap();
    let verbose = get("V", "0") == "1";
    let t3 = get("T3", "0") == "1";
    for h in get("H", "0,1,2,3,4").split(',').map(|h| h.parse::<u32>().unwrap()) {
        let t = std::time::Instant::now();
        let (mut pages, mut aged) = (Vec::new(), Vec::new());
        for &(f, n) in &pieces {
            let n = if h == 4 { (n + 3) / 4 * 4 } else { n };
            let mut r = json!({"seed": seed, "preset": "b17a-tlc", "set": set, "super_layer": h, "first_layer": f, "layers": n, "cells": cells});
            if t3 {
                r["kilocycles"] = json!(1.0);
                r["other_chip"] = json!(true);
                r["hours"] = json!(8760.0);
            }
            let a = jobs::run("reprogram", &r).unwrap();
            pages.extend(a["pages"].as_array().unwrap().clone());
            if t3 {
                aged.extend(a["aged"].as_array().unwrap().clone());
            }
        }
        let n = pages.len() as f64;
        let stat = |p: &[Value], k: &str| {
            (
                p.iter().map(|p| p[k].as_u64().unwrap()).max().unwrap_or(0),
                p.iter().map(|p| p[k].as_u64().unwrap()).sum::<u64>() as f64 / n,
            )
        };
        let (dx, dm) = stat(&pages, "errors_default");
        let (ox, om) = stat(&pages, "errors_calibrated");
        if t3 {
            let (ax, am) = stat(&aged, "errors_calibrated");
            let w = if h == 0 { [20., 5., 100., 34.] } else { [27., 9., 121., 49.] };
            println!(
                "h{h} w/o {ox} {om:.2} ({:.2} {:.2})  with {ax} {am:.2} ({:.2} {:.2}) pages {n} {:.1}s",
                ox as f64 / w[0],
                om / w[1],
                ax as f64 / w[2],
                am / w[3],
                t.elapsed().as_secs_f64()
            );
            continue;
        }
        let want = [
            (889., 291., 6., 1.),
            (1428., 432., 10., 2.),
            (1851., 438., 46., 9.),
            (2096., 349., 234., 11.),
            (3000., 500., 2000., 200.),
        ][h as usize];
        println!(
            "h{h} dvo {dx} {dm:.1} ({:.2} {:.2})  ovo {ox} {om:.2} ({:.2} {:.2}) pages {n} {:.1}s",
            dx as f64 / want.0,
            dm / want.1,
            ox as f64 / want.2,
            om / want.3,
            t.elapsed().as_secs_f64()
        );
        if verbose {
            for p in &pages {
                println!("   {p}");
            }
        }
    }
}
