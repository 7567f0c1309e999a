//! Tests of compensated resumes on cells: what a stronger pulse after a suspension does to the states, and what takes it back.

use interpulse_cell::cells::Cells;
use interpulse_cell::replay;
use interpulse_cell::tester::Tester;
use interpulse_engine::Duration;
use interpulse_flash::script::Probe;
use interpulse_flash::suspend::{Compensation, Scheme};
use interpulse_settings::Document;

const CELLS: usize = 20_000;

/// Height above its verify level that one programmed cell in a hundred exceeds, in steps, and the loops of the program.
fn programmed(boost: f64, per_e_fold: f64, suspended: bool) -> (f64, u32) {
    let set = |key, value: &str| Document::set(key, value).expect("it parses");
    let overrides = set("cell.detrapping.boost", &boost.to_string())
        .over(set("cell.detrapping.amount", "0.0"))
        .expect("it fits");
    let scheme = Scheme::LoopBoundary;
    let mut tester = Tester::resolve("a4-tlc", overrides, scheme, Scheme::None).expect("it is legal");
    tester.nand.program_suspend.compensation = Compensation { per_e_fold, ..Compensation::NONE };
    let us = Duration::from_us;
    let probe = suspended.then_some(Probe { first: us(300), then: us(300), random: false });
    let schedule = tester.program(probe, 0);
    let mut cells = Cells::erased(&tester.cells, CELLS, 1, 0);
    let data = cells.random_data(0, 0..8);
    let done = replay::program(&tester, &schedule, &mut cells, &data, 0, &[]);
    assert!(done.passed && (done.entries.len() > 3) == suspended);
    let verify = &tester.cells.ispp.verify;
    let above = data.iter().zip(&cells.vth).filter(|(state, _)| **state > 0);
    let mut above: Vec<f64> =
        above.map(|(&state, v)| f64::from(v - verify[usize::from(state) - 1])).collect();
    above.sort_unstable_by(f64::total_cmp);
    (above[above.len() * 99 / 100], done.loops)
}

/// Pulses that act 6 steps per e-fold more strongly after a rest of about 1.1 e-folds raise cells that pass with them too far. A fall
/// of the voltage by as much (6 of the 32 steps of a loop) takes that back, for more loops.
#[test]
fn a_fall_of_the_voltage_takes_the_boost_back() {
    let alone = programmed(0.0, 0.0, false);
    let (plain, loops) = programmed(0.0, 0.0, true);
    let (boosted, _) = programmed(6.0, 0.0, true);
    let (compensated, more_loops) = programmed(6.0, 6.0 / 32.0, true);
    println!("{alone:?}, {plain} {loops}, {boosted}, {compensated} {more_loops}");
    assert!((plain - alone.0).abs() < 0.3 && loops == alone.1);
    assert!(boosted > plain + 2.0, "{boosted} against {plain}");
    assert!(compensated < plain + 0.3, "{compensated} against {plain} and {boosted}");
    assert!(more_loops > loops, "{more_loops} against {loops}");
}
