//! Links side by side: those that an item on one of them may be able to use instead.

use crate::search::state::slots::Slots;

/// Links that an item could use instead of another: those of the same switch on the way up, those into
/// the same switch on the way down.
pub(crate) struct Siblings {
    lists: Vec<Vec<u32>>,
    list_of: Vec<u32>,
}

impl Siblings {
    /// From the rank of every switch.
    pub fn new(view: &Slots, rank: &[u16]) -> Self {
        let mut lists = vec![Vec::new(); 2 * rank.len()];
        let mut list_of = vec![0; view.slots()];
        for slot in (0..view.slots()).filter(|&s| !view.is_hole(s)) {
            let (from, to) = (view.from[slot] as usize, view.to[slot] as usize);
            let list = if rank[from] < rank[to] { 2 * from } else { 2 * to + 1 };
            lists[list].push(slot as u32);
            list_of[slot] = list as u32;
        }
        Self { lists, list_of }
    }

    /// The list that holds `slot`.
    pub fn of(&self, slot: u32) -> &[u32] {
        &self.lists[self.list_of[slot as usize] as usize]
    }
}
