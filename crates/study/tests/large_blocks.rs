//! Large super blocks: drives with more units per super block than 16 bits count work from preconditioning through a
//! snapshot to garbage collection; larger ones than supported are refused.

use interpulse_study::config::{Case, PlanRequest, read_cases};
use interpulse_study::control::Control;
use interpulse_study::plan::resolve;
use interpulse_study::runner::{RunOptions, run};
use serde_json::Value;

/// One die of four planes that program and erase together, with `pages` pages of 16 KiB per block.
fn text(pages: u32, gc: &str) -> String {
    format!(
        "[part]\npreset = \"a4-tlc\"\nplanes = 4\nblocks-per-plane = 12\npages-per-block = {pages}\nlayers = 1\n[geometry]\n\
         channels = 1\nchips-per-channel = 1\n[ftl]\nover-provisioning = \"80%\"\nmulti-plane = 4\ngc = \"{gc}\"\n[cache]\n\
         size = \"4MiB\"\n[precondition]\noverwrite = \"uniform\"\nuntil = \"drive-writes\"\ndrive-writes = 1.0\n\
         [audit]\nsample = 16\n[run]\nrequests = 200000\n[[flow]]\ndepth = 16\nread = 0\n"
    )
}

fn request(text: String) -> PlanRequest {
    PlanRequest { text, path: "x.toml".into(), ..PlanRequest::default() }
}

fn case(pages: u32) -> Result<Case, String> {
    read_cases(&request(text(pages, "greedy"))).map(|mut all| all.remove(0)).map_err(|e| e.to_string())
}

#[test]
fn large_super_blocks_are_filled_collected_and_kept_in_snapshots() {
    for (pages, units, gc) in
        [(2112, 33_792, "greedy"), (4095, 65_520, "cost-benefit"), (4098, 65_568, "d-choices")]
    {
        let of = case(pages).unwrap();
        assert_eq!(of.drive.layout().unwrap().units_per_block, units);
        let folder = tempfile::tempdir().expect("a temporary folder");
        let plan = resolve(&request(text(pages, gc))).unwrap();
        let options = RunOptions {
            jobs: 1,
            cache_dir: Some(folder.path().to_path_buf()),
            cache_limit: 1 << 32,
            no_cache: false,
        };
        let result = || {
            let json =
                run(&plan, &options, &Control::default()).unwrap_or_else(|e| panic!("{pages} pages: {e:?}"));
            let mut value: Value = serde_json::from_str(&json).unwrap();
            let mut value = value["cases"][0]["seeds"][0].take();
            let timing = ["wall_s", "cpu_s", "requests_per_cpu_s"];
            timing.iter().for_each(|key| drop(value.as_object_mut().unwrap().remove(*key)));
            value
        };
        let made = result();
        assert!(made["ftl"]["gc_runs"].as_u64().unwrap() > 0, "{pages} pages: {}", made["ftl"]);
        assert!(made["ftl"]["gc_pages_moved"].as_u64().unwrap() > 0, "{pages} pages: {}", made["ftl"]);
        assert!(made["audits"]["mapped_units"].as_u64().unwrap() > u64::from(units), "{pages} pages");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "{pages} pages: a snapshot");
        assert!(made == result(), "{pages} pages: from the snapshot");
    }
}

#[test]
fn a_super_block_that_is_too_large_is_refused_with_the_limit() {
    // 65,535 pages x 4 planes x 4 units; one word line less than a whole page triple changes nothing.
    assert_eq!(case(65_535).unwrap().drive.layout().unwrap().units_per_block, 1_048_560);
    let sets = vec![("part.page-size".to_string(), "20KiB".to_string())];
    let seen = read_cases(&PlanRequest { sets, ..request(text(65_535, "greedy")) }).unwrap_err().to_string();
    let expected = "--set: part.pages-per-block = 65535 and part.page-size = 20KiB and ftl.multi-plane = 4 and \
                    ftl.mapping-unit = 4KiB: a super block of 1310700 mapping units is larger than the 1048576 supported";
    assert!(seen.ends_with(expected.trim_start_matches("--set: ")), "{seen}");
}

#[test]
fn a_page_of_more_units_than_a_word_has_bits_is_refused_with_the_limit() {
    let paged = |page_size: &str| {
        let sets = vec![("part.page-size".to_string(), page_size.to_string())];
        read_cases(&PlanRequest { sets, ..request(text(64, "greedy")) }).map(drop).map_err(|e| e.to_string())
    };
    assert_eq!(paged("128KiB"), Ok(()));
    let seen = paged("256KiB").unwrap_err();
    let expected = "a unit of which a page of 256KiB has at most 32";
    assert!(seen.contains("ftl.mapping-unit") && seen.contains(expected), "{seen}");
}
