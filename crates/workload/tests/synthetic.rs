//! Synthetic generator tests against their descriptions. Fixed seeds; bounds of at least six sigma, so that a correct
//! generator fails the suite with a probability below 1e-6 over seeds.

use interpulse_engine::{Bytes, Op, Request, SimTime, Streams};
use interpulse_workload::{
    AddressSpec, Arrivals, BlockSize, Flow, FlowSpec, HotCold, HyperExponential, Normal, Pacing, Pareto,
    Parts, SyntheticPacing, SyntheticSpec, Zipf,
};

const N: usize = 200_000;
const CAPACITY: u64 = 1 << 21;

fn draw(spec: &SyntheticSpec, n: usize, seed: u64) -> Vec<(SimTime, Request)> {
    let flow = FlowSpec { limit: Some(n as u64), ..FlowSpec::synthetic("s", spec.clone()) };
    let all = crate::common::drain(&mut Flow::new(&flow, CAPACITY, &Streams::new(seed), 0).unwrap());
    assert_eq!(all.len(), n);
    all
}

/// Checks that `seen` of `n` at probability `p` lies within six sigma.
fn assert_share(seen: usize, n: usize, p: f64, what: &str) {
    let (n, seen) = (n as f64, seen as f64);
    let sigma = (n * p * (1.0 - p)).sqrt();
    assert!((seen - n * p).abs() <= 6.0 * sigma, "{what}: {seen} of {n}, expected share {p}");
}

fn open(rate_per_s: f64, arrivals: Arrivals) -> SyntheticSpec {
    SyntheticSpec { pacing: SyntheticPacing::Open { rate_per_s, arrivals }, ..SyntheticSpec::default() }
}

fn gaps_ns(spec: &SyntheticSpec, n: usize) -> Vec<f64> {
    let times: Vec<u64> = draw(spec, n, 3).iter().map(|(at, _)| at.as_ns()).collect();
    let mut before = 0;
    times.iter().map(|&t| (t - std::mem::replace(&mut before, t)) as f64).collect()
}

/// Mean and squared coefficient of variation.
fn moments(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / (n - 1.0);
    (mean, variance / (mean * mean))
}

#[test]
fn operations_come_in_their_shares() {
    let spec = SyntheticSpec { read_share: 0.55, write_share: 0.35, trim_share: 0.1, ..Default::default() };
    let all = draw(&spec, N, 1);
    for (op, p) in [(Op::Read, 0.55), (Op::Write, 0.35), (Op::Trim, 0.1), (Op::Flush, 0.0)] {
        assert_share(all.iter().filter(|(_, r)| r.op == op).count(), N, p, &format!("{op:?}"));
    }
    let spec = SyntheticSpec { zeroes_share: 0.05, compare_share: 0.2, write_share: 0.1, ..spec };
    let others = draw(&spec, N, 1);
    let of = [(Op::Write, 0.1), (Op::Trim, 0.1), (Op::WriteZeroes, 0.05), (Op::Compare, 0.2)];
    for (op, p) in of {
        assert_share(others.iter().filter(|(_, r)| r.op == op).count(), N, p, &format!("{op:?}"));
    }
    let alone = SyntheticSpec { read_share: 0.0, write_share: 0.0, compare_share: 1.0, ..Default::default() };
    assert!(draw(&alone, 100, 1).iter().all(|(_, request)| request.op == Op::Compare));
    // The operation of a request does not change its address.
    let addresses = |of: &[(_, Request)]| of.iter().map(|(_, r)| r.sector).collect::<Vec<_>>();
    assert_eq!(addresses(&all), addresses(&others));
}

#[test]
fn a_flush_follows_every_so_many_writes() {
    let spec =
        SyntheticSpec { read_share: 0.5, write_share: 0.5, flush_every: Some(3), ..Default::default() };
    let mut writes = 0;
    for (_, request) in draw(&spec, 10_000, 1) {
        match request.op {
            Op::Flush => {
                assert_eq!((writes, request), (3, Request::FLUSH));
                writes = 0;
            }
            Op::Write => writes += 1,
            _ => {}
        }
        assert!(writes <= 3);
    }
}

#[test]
fn sizes_come_in_their_weights() {
    let sizes = vec![(Bytes::kib(4), 6.0), (Bytes(512), 1.0), (Bytes::kib(128), 3.0)];
    let spec =
        SyntheticSpec { block_size: BlockSize::Weighted(sizes), alignment: Bytes(512), ..Default::default() };
    let all = draw(&spec, N, 2);
    for (sectors, p) in [(8, 0.6), (1, 0.1), (256, 0.3)] {
        assert_share(all.iter().filter(|(_, r)| r.sectors == sectors).count(), N, p, "size");
    }
}

#[test]
fn uniform_addresses_fill_the_region_evenly() {
    let spec = SyntheticSpec { from: 0.25, to: 0.75, ..Default::default() };
    let (from, to) = (CAPACITY / 4, CAPACITY * 3 / 4);
    let mut tenths = [0; 10];
    for (_, request) in draw(&spec, N, 4) {
        assert!(request.sector >= from && request.end() <= to && request.sector % 8 == 0);
        tenths[((request.sector - from) * 10 / (to - from)) as usize] += 1;
    }
    for count in tenths {
        assert_share(count, N, 0.1, "a tenth of the region");
    }
}

/// In a tiny region every position, the last included, is reached.
#[test]
fn every_place_is_reached() {
    for addresses in [
        AddressSpec::Sequential,
        AddressSpec::Uniform,
        AddressSpec::Zipf(Zipf { exponent: 0.5 }),
        AddressSpec::HotCold(HotCold { hot_share: 0.3, hot_traffic: 0.5 }),
    ] {
        let spec = FlowSpec {
            limit: Some(2000),
            ..FlowSpec::synthetic("s", SyntheticSpec { addresses, ..Default::default() })
        };
        let mut flow = Flow::new(&spec, 83, &Streams::new(1), 0).unwrap();
        let mut seen = [false; 10];
        crate::common::drain(&mut flow).iter().for_each(|(_, r)| seen[(r.sector / 8) as usize] = true);
        assert_eq!(seen, [true; 10], "{spec:?}");
    }
}

#[test]
fn sequential_addresses_wrap_without_straddling() {
    let spec = SyntheticSpec {
        addresses: AddressSpec::Sequential,
        block_size: BlockSize::Fixed(Bytes::kib(12)),
        alignment: Bytes::kib(4),
        from: 0.5,
        ..Default::default()
    };
    let flow = FlowSpec { limit: Some(7), ..FlowSpec::synthetic("s", spec) };
    let mut flow = Flow::new(&flow, 160, &Streams::new(1), 0).unwrap();
    // A region of 80 sectors from 80 holds three requests of 24.
    let sectors: Vec<u64> = crate::common::drain(&mut flow).iter().map(|(_, r)| r.sector).collect();
    assert_eq!(sectors, [80, 104, 128, 80, 104, 128, 80]);
}

#[test]
fn hot_and_cold_parts_get_their_traffic() {
    let addresses = AddressSpec::HotCold(HotCold { hot_share: 0.1, hot_traffic: 0.9 });
    let all = draw(&SyntheticSpec { addresses, ..Default::default() }, N, 5);
    // 262,144 positions: 26,214 of them (0.1 rounded) are hot.
    let hot: Vec<u64> = all.iter().map(|(_, r)| r.sector / 8).filter(|&place| place < 26_214).collect();
    assert_share(hot.len(), N, 0.9, "hot");
    let lower = hot.iter().filter(|&&place| place < 13_107).count();
    assert_share(lower, hot.len(), 0.5, "uniform in the hot part");
}

/// The most popular positions have the weights of their ranks and are scattered.
#[test]
fn zipf_ranks_are_scattered_over_the_region() {
    let spec = SyntheticSpec { addresses: AddressSpec::Zipf(Zipf { exponent: 0.99 }), ..Default::default() };
    let places = (CAPACITY / 8) as usize;
    let mut counts = vec![0usize; places];
    draw(&spec, N, 6).iter().for_each(|(_, r)| counts[(r.sector / 8) as usize] += 1);
    let mut order: Vec<usize> = (0..places).collect();
    order.sort_by_key(|&place| std::cmp::Reverse(counts[place]));
    let total: f64 = (1..=places).map(|k| (k as f64).powf(-0.99)).sum();
    for (rank, &place) in (1..=5).zip(&order) {
        assert_share(counts[place], N, (rank as f64).powf(-0.99) / total, "rank");
    }
    // Without scattering, the hundred most popular positions would be adjacent.
    let lower = order[..100].iter().filter(|&&place| place < places / 2).count();
    assert!((20..=80).contains(&lower), "{lower} of the first 100 ranks in the lower half");
}

#[test]
fn permuted_addresses_visit_every_place_once_in_each_pass() {
    let spec = SyntheticSpec { from: 0.5, to: 0.51, addresses: AddressSpec::Permuted, ..Default::default() };
    let places = 2_621;
    let sectors =
        |seed| -> Vec<u64> { draw(&spec, 2 * places, seed).iter().map(|(_, r)| r.sector).collect() };
    let (first, other) = (sectors(4), sectors(5));
    let mut sorted = first[..places].to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    assert_eq!(
        (sorted.len(), sorted[0], sorted[places - 1]),
        (places, CAPACITY / 2, CAPACITY / 2 + 8 * places as u64 - 8)
    );
    assert_eq!(first[..places], first[places..], "the second pass repeats the first");
    assert_ne!(first, other, "the order depends on the seed");
}

#[test]
fn reads_and_writes_have_positions_of_their_own() {
    let spec = SyntheticSpec {
        read_share: 0.5,
        write_share: 0.3,
        trim_share: 0.2,
        from: 0.25,
        to: 0.2501,
        addresses: AddressSpec::SequentialByKind,
        ..Default::default()
    };
    let length = 208;
    let mut next = [0; 3];
    for (_, request) in draw(&spec, 1000, 6) {
        let kind = [Op::Read, Op::Write, Op::Trim].iter().position(|&op| op == request.op).unwrap();
        assert_eq!(request.sector - CAPACITY / 4, next[kind], "{:?}", request.op);
        next[kind] = (next[kind] + 8) % length;
    }
}

#[test]
fn parts_get_their_traffic() {
    let parts = Parts { part_sizes: vec![10.0, 60.0, 30.0], part_traffic: vec![50.0, 0.0, 50.0] };
    let spec = SyntheticSpec { addresses: AddressSpec::Parts(parts), ..Default::default() };
    let places = (CAPACITY / 8) as f64;
    let all: Vec<f64> = draw(&spec, N, 7).iter().map(|(_, r)| (r.sector / 8) as f64 / places).collect();
    assert_share(all.iter().filter(|&&at| at < 0.1).count(), N, 0.5, "first part");
    assert_share(all.iter().filter(|&&at| at < 0.05).count(), N, 0.25, "half of the first part");
    assert_eq!(all.iter().filter(|&&at| (0.1 + 1e-5..0.7 - 1e-5).contains(&at)).count(), 0, "second part");
    assert_share(all.iter().filter(|&&at| at > 0.85).count(), N, 0.25, "half of the last part");
}

/// Requests to each position, the most popular first.
fn popularity(spec: &SyntheticSpec, seed: u64) -> Vec<usize> {
    let mut counts = vec![0; (CAPACITY / 8) as usize];
    draw(spec, N, seed).iter().for_each(|(_, r)| counts[(r.sector / 8) as usize] += 1);
    counts.sort_unstable_by(|a, b| b.cmp(a));
    counts
}

#[test]
fn a_pareto_share_of_the_places_gets_the_rest_of_the_requests() {
    let spec = SyntheticSpec {
        addresses: AddressSpec::Pareto(Pareto { pareto_share: 0.2 }),
        to: 0.001,
        ..Default::default()
    };
    // 262 places: ranks below a fifth of 261 for u below 0.8; few draws make the order of places unsure.
    let counts = popularity(&spec, 8);
    assert!(counts[262..].iter().all(|&count| count == 0));
    assert_share(counts[..53].iter().sum(), N, (53.0f64 / 261.0).powf(1.0 / 7.212_567), "a fifth");
    assert_share(counts[0], N, (1.0f64 / 261.0).powf(1.0 / 7.212_567), "the first rank");
}

#[test]
fn normal_ranks_have_the_share_of_their_neighbourhood() {
    let spec = |deviation| SyntheticSpec {
        addresses: AddressSpec::Normal(Normal { deviation }),
        to: 0.0005,
        ..Default::default()
    };
    // 131 places, standard deviation 1/12 of them; the mean of 12 uniform numbers is normal within 0.3 % here.
    let narrow = popularity(&spec(0.0), 9);
    let within: f64 = narrow[..22].iter().sum::<usize>() as f64 / N as f64;
    assert!((within - 0.685).abs() < 0.015, "{within} within a standard deviation on both sides");
    let wide = popularity(&spec(0.5), 9);
    let within: f64 = wide[..65].iter().sum::<usize>() as f64 / N as f64;
    assert!(wide[..22].iter().sum::<usize>() < narrow[..22].iter().sum::<usize>() / 2);
    assert!((0.84..0.89).contains(&within), "{within} within the width of the deviation");
}

#[test]
fn fixed_gaps_add_up_exactly() {
    let all = draw(&open(3.0, Arrivals::Fixed), 3000, 1);
    for k in [1u64, 2, 3, 1000, 3000] {
        let at = all[k as usize - 1].0.as_ns();
        assert!(at.abs_diff(k * 1_000_000_000 / 3) <= 1, "arrival {k} at {at} ns");
    }
}

#[test]
fn poisson_gaps_have_their_mean_variation_and_tail() {
    let gaps = gaps_ns(&open(50_000.0, Arrivals::Poisson), N);
    let (mean, scv) = moments(&gaps);
    let n = N as f64;
    assert!((mean / 20_000.0 - 1.0).abs() < 6.0 / n.sqrt(), "mean {mean} ns");
    // The sample variance of an exponential has a relative sigma of sqrt(8 / n).
    assert!((scv - 1.0).abs() < 6.0 * (8.0 / n).sqrt(), "scv {scv}");
    for multiple in [0.1, 1.0, 3.0] {
        let above = gaps.iter().filter(|&&gap| gap > 20_000.0 * multiple).count();
        assert_share(above, N, f64::exp(-multiple), "tail");
    }
}

#[test]
fn hyper_exponential_gaps_have_their_mean_and_variation() {
    for target in [1.0, 4.0, 25.0] {
        let gaps =
            gaps_ns(&open(10_000.0, Arrivals::HyperExponential(HyperExponential { scv: target })), 4 * N);
        let (mean, scv) = moments(&gaps);
        let n = gaps.len() as f64;
        assert!((mean / 1e5 - 1.0).abs() < 6.0 * (target / n).sqrt(), "mean {mean} ns at scv {target}");
        // Fourth moment of the mixture in units of the mean: 24 (p a^4 + q b^4), a = 1/2p, b = 1/2q.
        let p = 0.5 * (1.0 + ((target - 1.0) / (target + 1.0)).sqrt());
        let fourth = 24.0 / 16.0 * (p.powi(-3) + (1.0 - p).powi(-3));
        let bound = 6.0 * (fourth / n).sqrt() * 1.5;
        assert!((scv - target).abs() < bound, "scv {scv}, not {target} within {bound}");
    }
}

/// A change of one property does not change the draws of the others.
#[test]
fn properties_have_streams_of_their_own() {
    let base = SyntheticSpec::default();
    let addresses =
        |spec: &SyntheticSpec| draw(spec, 1000, 9).iter().map(|(_, r)| r.sector).collect::<Vec<_>>();
    let mixed = SyntheticSpec { read_share: 0.2, write_share: 0.8, ..base.clone() };
    let paced = open(1e5, Arrivals::Poisson);
    assert_eq!(addresses(&base), addresses(&mixed));
    assert_eq!(addresses(&base), addresses(&paced));
    assert_ne!(addresses(&base), draw(&base, 1000, 10).iter().map(|(_, r)| r.sector).collect::<Vec<_>>());

    let flow = |instance| {
        let spec = FlowSpec { limit: Some(1000), ..FlowSpec::synthetic("s", base.clone()) };
        crate::common::drain(&mut Flow::new(&spec, CAPACITY, &Streams::new(9), instance).unwrap())
    };
    assert_eq!(flow(0), flow(0));
    assert_ne!(flow(0), flow(1));
}

/// Golden values: a change here changes every result of synthetic flows. The failing line shows the new value.
#[test]
fn the_first_requests_never_change() {
    let spec = SyntheticSpec {
        read_share: 0.5,
        write_share: 0.5,
        block_size: BlockSize::Weighted(vec![(Bytes::kib(4), 1.0), (Bytes::kib(16), 1.0)]),
        addresses: AddressSpec::Zipf(Zipf { exponent: 0.9 }),
        ..open(1e6, Arrivals::HyperExponential(HyperExponential { scv: 3.0 }))
    };
    let seen: Vec<(u64, Op, u64, u32)> =
        draw(&spec, 4, 1).iter().map(|&(at, r)| (at.as_ns(), r.op, r.sector, r.sectors)).collect();
    assert_eq!(seen, GOLDEN);
}

const GOLDEN: [(u64, Op, u64, u32); 4] = [
    (890, Op::Read, 1923392, 32),
    (1098, Op::Read, 1797944, 32),
    (2076, Op::Write, 47568, 32),
    (2566, Op::Write, 1374160, 8),
];

#[test]
fn start_stop_and_limit_bound_a_flow() {
    let spec = FlowSpec {
        start: SimTime(1_000_000),
        stop: Some(SimTime(1_010_000)),
        ..FlowSpec::synthetic("s", open(1e6, Arrivals::Fixed))
    };
    let mut flow = Flow::new(&spec, CAPACITY, &Streams::new(1), 0).unwrap();
    assert_eq!(flow.pacing(), Pacing::Open);
    let times: Vec<u64> = crate::common::drain(&mut flow).iter().map(|(at, _)| at.as_ns()).collect();
    assert_eq!(times, (1..10).map(|k| 1_000_000 + k * 1000).collect::<Vec<_>>());
    assert_eq!((flow.issued(), flow.stop(), flow.trace_summary()), (9, spec.stop, None));

    let closed =
        FlowSpec { start: SimTime(5), limit: Some(3), ..FlowSpec::synthetic("s", SyntheticSpec::default()) };
    let mut flow = Flow::new(&closed, CAPACITY, &Streams::new(1), 0).unwrap();
    assert!(crate::common::drain(&mut flow).iter().all(|&(at, _)| at == SimTime(5)));
    assert_eq!(flow.issued(), 3);
}
