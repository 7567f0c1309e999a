//! What an array has not told its host yet.

use interpulse_engine::{News, RequestId, Ring};

/// News in their order: mostly one, or none, which has a place of its own.
#[derive(Default)]
pub(crate) struct Untold {
    first: Option<News<RequestId>>,
    /// None where there is no first one.
    others: Ring<News<RequestId>>,
}

impl Untold {
    /// The oldest.
    #[inline(always)]
    pub(crate) fn front(&self) -> Option<News<RequestId>> {
        self.first
    }

    /// Adds one behind all others.
    #[inline(always)]
    pub(crate) fn push(&mut self, news: News<RequestId>) {
        if self.first.is_none() {
            self.first = Some(news);
        } else {
            self.others.push(news);
        }
    }

    /// Takes the oldest.
    #[inline(always)]
    pub(crate) fn pop(&mut self) -> Option<News<RequestId>> {
        std::mem::replace(&mut self.first, self.others.pop())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        #[test]
        fn news_are_told_in_their_order(steps in prop::collection::vec(any::<bool>(), 1..200)) {
            let (mut untold, mut model) = (Untold::default(), VecDeque::new());
            for (k, push) in (0..).zip(steps) {
                if push {
                    untold.push(News::Completed(RequestId(k)));
                    model.push_back(News::Completed(RequestId(k)));
                } else {
                    prop_assert_eq!(untold.pop(), model.pop_front());
                }
                prop_assert_eq!(untold.front(), model.front().copied());
            }
        }
    }
}
