//! Tests of restarting pulses, RAID-5, reprogramming and Little's law against hand-computed values.

use interpulse_oracle::raid::{
    StripeCost, cheapest, cheapest_with_two, parity_per_data_write, read_modify_write, reconstruct_write,
};
use interpulse_oracle::{coding, little, repeat};

fn near(actual: f64, printed: f64, tolerance: f64) {
    assert!((actual - printed).abs() <= tolerance, "{actual} is not {printed}");
}

#[test]
fn an_erase_of_five_restarting_pulses() {
    // Milliseconds: 5 pulses of 1 ms, 103 us per interruption.
    for (rate, suspends, suspends_digit, elapsed, elapsed_digit) in [
        (1.0, 8.6, 0.05, 9.5, 0.05),
        (2.0, 32.0, 0.5, 19.0, 0.5),
        (3.0, 95.0, 0.5, 42.0, 0.5),
        (5.0, 737.0, 0.5, 223.3, 0.05),
    ] {
        near(5.0 * repeat::interruptions_per_pulse(rate, 1.0).unwrap(), suspends, suspends_digit);
        near(repeat::elapsed_time(rate, 5, 1.0, 0.103).unwrap(), elapsed, elapsed_digit);
    }
    assert_eq!(repeat::elapsed_time(0.0, 5, 1.0, 0.103).unwrap(), 5.0);
    near(repeat::active_time_per_pulse(1e-12, 1.0).unwrap(), 1.0, 1e-11);
    assert!(repeat::active_time_per_pulse(1.0, 0.0).is_err());
}

#[test]
fn cancelled_phases_of_a_program() {
    // 5000 reads/s per die; SLC loop 20 + 8 us, MLC loop 20 + 24 us: +4.3 % and +5.8 %.
    for (verify, inflation) in [(8.0, 0.043), (24.0, 0.058)] {
        let phase = |p| repeat::active_time_per_pulse(5000e-6, p).unwrap();
        near((phase(20.0) + phase(verify)) / (20.0 + verify) - 1.0, inflation, 0.0005);
    }
}

#[test]
fn raid_5_of_four_drives() {
    assert_eq!(read_modify_write(3, 1).unwrap(), StripeCost { reads: 2, writes: 2 });
    assert_eq!(reconstruct_write(3, 1).unwrap(), StripeCost { reads: 2, writes: 2 });
    assert_eq!(cheapest(3, 2).unwrap(), StripeCost { reads: 1, writes: 3 });
    assert_eq!(cheapest(3, 3).unwrap(), StripeCost { reads: 0, writes: 4 });
    for data in 1..20 {
        for changed in 1..=data {
            let reconstruct = reconstruct_write(data, changed).unwrap();
            let cheaper = reconstruct.reads < read_modify_write(data, changed).unwrap().reads;
            assert_eq!(cheaper, 2 * changed > data - 1);
            let best = if cheaper { data - changed } else { changed + 1 };
            assert_eq!(cheapest(data, changed).unwrap(), StripeCost { reads: best, writes: changed + 1 });
        }
    }
    assert_eq!(cheapest_with_two(6, 1).unwrap(), StripeCost { reads: 3, writes: 3 });
    assert_eq!(cheapest_with_two(6, 2).unwrap(), StripeCost { reads: 4, writes: 4 });
    assert_eq!(cheapest_with_two(6, 3).unwrap(), StripeCost { reads: 3, writes: 5 });
    assert!(cheapest_with_two(6, 7).is_err() && cheapest_with_two(6, 0).is_err());
    near(parity_per_data_write(1.135).unwrap(), 0.881, 0.0005);
    near(parity_per_data_write(3.0).unwrap(), 0.333, 0.0005);
    assert_eq!(parity_per_data_write(1.0).unwrap(), 1.0);
    assert!(parity_per_data_write(0.9).is_err());
    assert!(cheapest(3, 4).is_err() && cheapest(3, 0).is_err() && cheapest(0, 0).is_err());
}

#[test]
fn reprogramming_gains_at_most_a_third() {
    for x in [0.0, 0.3, 1.0] {
        near(coding::pages_per_word_line(x, 1.0).unwrap(), 3.0, 1e-15);
    }
    near(coding::capacity_ratio(1.0, 0.0).unwrap(), 2.0 / 3.0, 1e-15);
    near(coding::capacity_ratio(1.0, 2.0).unwrap(), 4.0 / 3.0, 1e-15);
    assert!(coding::capacity_ratio(1.1, 1.0).is_err());
    assert!(coding::capacity_ratio(0.5, 2.1).is_err());
}

#[test]
fn conservation_laws() {
    // 32 requests in flight, 80 us each; 1e5 pages/s at WA 2.5 into blocks of 256 pages.
    near(little::throughput(32.0, 80e-6).unwrap(), 400_000.0, 1e-6);
    near(little::queue_depth(400_000.0, 80e-6).unwrap(), 32.0, 1e-12);
    near(little::erase_rate(1e5, 2.5, 256).unwrap(), 976.5625, 1e-9);
    assert!(little::erase_rate(1e5, 0.9, 256).is_err());
    assert!(little::throughput(1.0, 0.0).is_err());
}
