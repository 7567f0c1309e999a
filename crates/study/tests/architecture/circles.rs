//! Dependency cycles between files.

use crate::architecture::arrows::Arrows;
use std::collections::{BTreeMap, BTreeSet};

/// Files reachable from `from`.
fn reached<'a>(arrows: &'a Arrows, from: &'a str) -> BTreeSet<&'a str> {
    let mut uses: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (user, used) in arrows.keys() {
        uses.entry(user).or_default().push(used);
    }
    let (mut seen, mut open) = (BTreeSet::new(), vec![from]);
    while let Some(file) = open.pop() {
        for &next in uses.get(file).into_iter().flatten() {
            if seen.insert(next) {
                open.push(next);
            }
        }
    }
    seen
}

/// Every dependency that is part of a cycle, as text with its line.
pub fn all(arrows: &Arrows) -> Vec<String> {
    let on_one = arrows.iter().filter(|((user, used), _)| reached(arrows, used).contains(user.as_str()));
    on_one.map(|((user, used), (line, path))| format!("{user}:{line} uses {used} ({path})")).collect()
}
