//! Tests of reprogramming: every legal history of updates moves cells upward only and is readable from RPCnt and ID alone.

use super::*;
use std::collections::HashSet;

/// Table 1 as printed: value before and both values after an update of the LSB and of the MSB (Figure 3b).
const TABLE_1: [(Bit, u8, [u8; 2]); 8] = [
    (Bit::Lsb, 0b11, [0b11, 0b10]),
    (Bit::Lsb, 0b01, [0b01, 0b00]),
    (Bit::Lsb, 0b00, [0b00, 0b01]),
    (Bit::Lsb, 0b10, [0b10, 0b11]),
    (Bit::Msb, 0b00, [0b00, 0b10]),
    (Bit::Msb, 0b10, [0b10, 0b00]),
    (Bit::Msb, 0b11, [0b11, 0b01]),
    (Bit::Msb, 0b01, [0b01, 0b11]),
];

fn bits(value: u8) -> Bits {
    Bits::ALL
        .into_iter()
        .find(|b| u8::from(b.get(Bit::Msb)) * 2 + u8::from(b.get(Bit::Lsb)) == value)
        .unwrap()
}

#[test]
fn table_1_row_by_row() {
    for (bit, before, after) in TABLE_1 {
        let before = bits(before);
        let reached: Vec<Bits> =
            [before.get(bit), !before.get(bit)].map(|new| before.with(bit, new)).to_vec();
        assert_eq!(reached, after.map(bits), "{before} {bit:?}");
        let old = match bit {
            Bit::Lsb => Coding::Initial,
            Bit::Msb => Coding::Lsb,
        };
        let new = old.after(bit).unwrap();
        for value in after.map(bits) {
            assert!(new.encode(value) >= old.encode(before), "{before} -> {value}");
        }
    }
}

#[test]
fn the_states_given_in_the_text() {
    // Section 3.2: the initial values on ER to P3; 11 and 01 on P4 and P5 after an LSB update, since 10 -> 11 and
    // 00 -> 01 would move down otherwise; then 00 on P4 and 11 on P6 after an MSB update.
    assert_eq!([0b11, 0b01, 0b00, 0b10].map(|b| Coding::Initial.encode(bits(b))), [0, 1, 2, 3]);
    assert_eq!([0b11, 0b01].map(|b| Coding::Lsb.encode(bits(b))), [4, 5]);
    assert_eq!([0b00, 0b11].map(|b| Coding::Both.encode(bits(b))), [4, 6]);
    for (value, state) in [(0b11, 0), (0b01, 1)] {
        assert_eq!(Coding::Initial.decode(state), Some(bits(value)));
    }
    assert_eq!(Coding::Initial.decode(4), None);
    assert_eq!(Coding::LsbLsb.decode(3), None);
}

/// Checks every legal sequence of updates from this status; collects the codings and states it reaches.
fn follow(status: Status, value: Bits, state: State, seen: &mut HashSet<(Coding, State)>) {
    // The read depends on RPCnt and ID only.
    let coding = Coding::of(status.reprograms, status.distribution).expect("metadata of a history");
    assert_eq!(coding.decode(state), Some(value));
    seen.insert((coding, state));
    for bit in Bit::ALL {
        assert_eq!(coding.read(bit, state), value.get(bit));
    }
    for stale in [&[Bit::Lsb][..], &[Bit::Msb], &[Bit::Lsb, Bit::Msb]] {
        let now = stale.iter().fold(status, |status, &bit| status.invalidate(bit));
        for bit in Bit::ALL {
            match now.next(bit) {
                Err(why) => {
                    let expected = if status.reprograms == MAX_REPROGRAMS {
                        Refusal::Exhausted
                    } else {
                        assert!(now.validity.of(bit));
                        Refusal::BitInUse(bit)
                    };
                    assert_eq!(why, expected);
                }
                Ok(after) => {
                    assert_eq!(after.reprograms, status.reprograms + 1);
                    assert!(after.validity.of(bit));
                    let other = if bit == Bit::Lsb { Bit::Msb } else { Bit::Lsb };
                    assert_eq!(
                        after.validity.of(other),
                        now.validity.of(other),
                        "the other page is as it was"
                    );
                    for new in [false, true] {
                        let value = value.with(bit, new);
                        let moved = after.encode(value);
                        assert!(moved >= state, "{status:?} {bit:?}: {state} -> {moved}");
                        follow(after, value, moved, seen);
                    }
                }
            }
        }
    }
}

#[test]
fn every_legal_history_moves_up_and_decodes_from_its_metadata() {
    let mut seen = HashSet::new();
    for value in Bits::ALL {
        follow(Status::INITIAL, value, Status::INITIAL.encode(value), &mut seen);
    }
    assert_eq!(seen.len(), Coding::ALL.len() * STATES, "every value of every coding is reached");
}

#[test]
fn both_orders_share_id_10_and_id_01_needs_the_count() {
    let go = |order: [Bit; 2]| {
        order.into_iter().fold(Status::INITIAL, |s, bit| s.invalidate(bit).next(bit).unwrap())
    };
    assert_eq!(go([Bit::Lsb, Bit::Msb]), go([Bit::Msb, Bit::Lsb]));
    assert_eq!(go([Bit::Lsb, Bit::Msb]).distribution.id(), 0b10);
    let once = Status::INITIAL.invalidate(Bit::Lsb).next(Bit::Lsb).unwrap();
    let twice = go([Bit::Msb, Bit::Msb]);
    assert_eq!((once.distribution.id(), twice.distribution.id()), (0b01, 0b01));
    assert!((2..6).all(|state| once.decode(state) != twice.decode(state)));
}

#[test]
fn six_codings_and_no_other_metadata() {
    let known: Vec<Coding> = (0..4)
        .flat_map(|count| Distribution::ALL.into_iter().filter_map(move |d| Coding::of(count, d)))
        .collect();
    assert_eq!(known.len(), Coding::ALL.len());
    for coding in Coding::ALL {
        assert_eq!(Coding::of(coding.reprograms(), coding.distribution()), Some(coding));
        assert!(coding.lowest() + 3 <= 7);
    }
    assert_eq!(Distribution::ALL.map(Distribution::id), [0, 1, 2, 3]);
}

#[test]
fn a_page_reads_with_at_most_two_sensings() {
    for coding in Coding::ALL {
        let edges = |bit| coding.edges(bit).collect::<Vec<_>>();
        let low = coding.lowest();
        assert_eq!(edges(Bit::Lsb), [low + 2]);
        assert_eq!(edges(Bit::Msb), [low + 1, low + 3]);
    }
}

#[test]
fn refusals_say_why() {
    assert_eq!(
        Status::INITIAL.next(Bit::Lsb).unwrap_err().to_string(),
        "the LSB page of the word line is still in use"
    );
    let stale = Status::INITIAL.invalidate(Bit::Lsb).invalidate(Bit::Msb);
    assert_eq!(stale.validity.field(), 0b00);
    let once = stale.next(Bit::Msb).unwrap();
    assert_eq!(once.validity.field(), 0b10);
    let twice = once.next(Bit::Lsb).unwrap();
    assert_eq!(twice.validity.field(), 0b11);
    let worn = twice.invalidate(Bit::Msb).next(Bit::Msb).unwrap_err();
    assert_eq!(worn.to_string(), "the word line has been reprogrammed 2 times since its erase");
}
