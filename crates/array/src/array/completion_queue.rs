//! Completion queue: completions not yet reported to the host.

use interpulse_engine::{DeviceEvent, RequestId, Ring};

/// FIFO whose head has its own field: usually there is at most one entry.
#[derive(Default)]
pub(crate) struct CompletionQueue {
    first: Option<DeviceEvent<RequestId>>,
    /// Empty if there is no head.
    others: Ring<DeviceEvent<RequestId>>,
}

impl CompletionQueue {
    #[inline(always)]
    pub(crate) fn front(&self) -> Option<DeviceEvent<RequestId>> {
        self.first
    }

    #[inline(always)]
    pub(crate) fn push(&mut self, news: DeviceEvent<RequestId>) {
        if self.first.is_none() {
            self.first = Some(news);
        } else {
            self.others.push(news);
        }
    }

    #[inline(always)]
    pub(crate) fn pop(&mut self) -> Option<DeviceEvent<RequestId>> {
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
        fn completions_leave_in_fifo_order(steps in prop::collection::vec(any::<bool>(), 1..200)) {
            let (mut queue, mut model) = (CompletionQueue::default(), VecDeque::new());
            for (k, push) in (0..).zip(steps) {
                if push {
                    queue.push(DeviceEvent::Completed(RequestId(k)));
                    model.push_back(DeviceEvent::Completed(RequestId(k)));
                } else {
                    prop_assert_eq!(queue.pop(), model.pop_front());
                }
                prop_assert_eq!(queue.front(), model.front().copied());
            }
        }
    }
}
