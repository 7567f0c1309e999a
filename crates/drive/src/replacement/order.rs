//! Order of cached objects: two doubly linked lists over slots, and one mark for each slot.

/// Lists of slots. A slot is on the first list, on the second one, or unused.
#[derive(Clone, Debug)]
pub(crate) struct Order {
    /// Neighbours of each slot, then those of the heads of both lists: (towards the front, towards the end).
    links: Vec<[u32; 2]>,
    marks: Vec<bool>,
    second: Vec<bool>,
    in_second: u32,
    used: u32,
}

const NEWER: usize = 0;
const OLDER: usize = 1;

impl Order {
    /// Empty lists over `slots` slots.
    pub(crate) fn new(slots: u32) -> Order {
        let mut links = vec![[0; 2]; slots as usize];
        // The heads are their own neighbours.
        links.extend([[slots; 2], [slots + 1; 2]]);
        let none = vec![false; slots as usize];
        Order { links, marks: none.clone(), second: none, in_second: 0, used: 0 }
    }

    fn head(&self) -> u32 {
        self.links.len() as u32 - 2
    }

    /// Slots on the lists.
    #[inline]
    pub(crate) fn used(&self) -> u32 {
        self.used
    }

    /// Slots on the second list.
    #[inline]
    pub(crate) fn in_second(&self) -> u32 {
        self.in_second
    }

    #[inline]
    fn unlink(&mut self, slot: u32) {
        let [newer, older] = self.links[slot as usize];
        self.links[newer as usize][OLDER] = older;
        self.links[older as usize][NEWER] = newer;
    }

    #[inline]
    fn link_behind(&mut self, head: u32, slot: u32) {
        let older = self.links[head as usize][OLDER];
        self.links[slot as usize] = [head, older];
        self.links[older as usize][NEWER] = slot;
        self.links[head as usize][OLDER] = slot;
    }

    /// Puts an unused slot at the front of the first list, without a mark.
    pub(crate) fn insert(&mut self, slot: u32) {
        self.used += 1;
        self.marks[slot as usize] = false;
        self.link_behind(self.head(), slot);
    }

    /// Takes a slot off its list.
    pub(crate) fn remove(&mut self, slot: u32) {
        self.used -= 1;
        self.in_second -= u32::from(std::mem::take(&mut self.second[slot as usize]));
        self.unlink(slot);
    }

    /// Moves a slot to the front of the first list.
    #[inline]
    pub(crate) fn move_to_first(&mut self, slot: u32) {
        self.in_second -= u32::from(std::mem::take(&mut self.second[slot as usize]));
        self.unlink(slot);
        self.link_behind(self.head(), slot);
    }

    /// Moves a slot to the front of the second list.
    #[inline]
    pub(crate) fn move_to_second(&mut self, slot: u32) {
        self.in_second += u32::from(!std::mem::replace(&mut self.second[slot as usize], true));
        self.unlink(slot);
        self.link_behind(self.head() + 1, slot);
    }

    /// Slot at the end of the first list, which is not empty.
    #[inline]
    pub(crate) fn last(&self) -> u32 {
        self.links[self.head() as usize][NEWER]
    }

    /// Slot at the end of the second list, which is not empty.
    #[inline]
    pub(crate) fn last_of_second(&self) -> u32 {
        self.links[self.head() as usize + 1][NEWER]
    }

    /// Sets the mark of a slot.
    #[inline]
    pub(crate) fn mark(&mut self, slot: u32, mark: bool) {
        self.marks[slot as usize] = mark;
    }

    /// Mark of a slot.
    #[inline]
    pub(crate) fn is_marked(&self, slot: u32) -> bool {
        self.marks[slot as usize]
    }

    /// Slots on the lists, counted link by link.
    pub(crate) fn count(&self) -> u32 {
        let count_from = |head: u32| {
            let next = |&slot: &u32| Some(self.links[slot as usize][OLDER]).filter(|&next| next != head);
            std::iter::successors(Some(head), next).count() as u32 - 1
        };
        count_from(self.head()) + count_from(self.head() + 1)
    }
}
