//! Whether the entries towards many addresses are as they should be, seen for all of them in one pass over the switches.
//!
//! Should be: every entry leads over a working cable to a switch one hop nearer, down where a way that only goes down leads to the
//! address's switch and up elsewhere; at that switch, to the address. So packets arrive from everywhere by as few hops as can be, and
//! none goes up or sideways after it went down. There is nothing to tell of such an address. What is wrong with any other, if anything
//! is, is for `walker` to find.
//!
//! Invariant: an address that is plain here has no finding there.

use std::ops::Range;

use netloom_model::{Lft, LftRow, SwitchId};

use crate::walker::{Address, Target};
use crate::wiring::{Batch, Behind, Wiring};

/// Addresses of one switch whose entries are side by side.
struct Run {
    addresses: Range<usize>,
    /// The first's place in rows.
    first: usize,
    at: usize,
}

/// Which of some addresses are plain, in a tree all of whose hosts have working cables; `dests` are the batch's switches.
pub(crate) fn plain(
    wiring: &Wiring,
    (batch, dests): (&Batch, &[u32]),
    lft: &Lft,
    addresses: &[Address],
) -> Vec<bool> {
    let arrives = |address: &Address| {
        let (switch, target) = (dests[address.at], address.target);
        let port = lft.port(SwitchId(switch), address.dest);
        match target {
            Target::Host(host) => wiring.behind(switch, port) == Behind::Host(host),
            Target::Switch(_) => port == 0,
        }
    };
    let mut plain: Vec<bool> = addresses.iter().map(arrives).collect();
    let mut runs: Vec<Run> = Vec::new();
    for (i, address) in addresses.iter().enumerate() {
        match runs.last_mut() {
            Some(run) if run.at == address.at && run.first + run.addresses.len() == address.dest.index() => {
                run.addresses.end += 1;
            }
            _ => runs.push(Run { addresses: i..i + 1, first: address.dest.index(), at: address.at }),
        }
    }
    for s in (0..wiring.on.len() as u32).filter(|&s| wiring.on[s as usize]) {
        let (right, row) = (batch.right(wiring, s), lft.row(SwitchId(s)));
        for Run { addresses, first, at } in runs.iter().filter(|run| dests[run.at] != s) {
            let (entries, plain) = (*first..first + addresses.len(), &mut plain[addresses.clone()]);
            match row {
                LftRow::Narrow(row) => lead_on(&row[entries], right, *at, plain),
                LftRow::Wide(row) => lead_on(&row[entries], right, *at, plain),
            }
        }
    }
    plain
}

/// Strikes the addresses whose entries at a switch do not lead to destination `at` as they should.
#[inline]
fn lead_on<P: Copy + Into<usize>>(entries: &[P], right: &[u64], at: usize, plain: &mut [bool]) {
    for (&port, plain) in entries.iter().zip(plain) {
        *plain &= right.get(port.into()).is_some_and(|right| right >> at & 1 == 1);
    }
}

#[cfg(test)]
mod tests {
    use netloom_model::{DestId, SwitchId};
    use netloom_routing::{Engine, EngineOptions, route};
    use netloom_topology::{detect, generate};

    use super::*;

    /// What is plain of the addresses of a leaf of two hosts, with the entry of one switch towards the first host changed.
    fn plain(change: Option<(SwitchId, u16)>) -> Vec<bool> {
        let fabric = generate("two-level:leaves=3,hosts=2,spines=2").unwrap();
        let structure = detect(&fabric);
        let routes = route(Engine::Dmodk, &fabric, &structure, &EngineOptions::default()).unwrap();
        let mut lft = routes.lft().unwrap().clone();
        if let Some((switch, port)) = change {
            lft.set(switch, DestId(0), Some(port));
        }
        let wiring = Wiring::new(&fabric, &structure);
        let batch = wiring.batch(&[0]);
        let space = routes.dests(&fabric);
        let address = |target, dest| Address { target, dest, at: 0 };
        let addresses = [
            address(Target::Host(0), DestId(0)),
            address(Target::Host(1), DestId(1)),
            address(Target::Switch(0), space.switch(SwitchId(0))),
        ];
        super::plain(&wiring, (&batch, &[0]), &lft, &addresses)
    }

    #[test]
    fn addresses_are_plain_until_one_entry_is_wrong() {
        assert_eq!(plain(None), [true; 3]);
        // A leaf that sends to a host of its own, to a port that there is not, or to itself; the host's leaf that sends it up.
        for (switch, port) in [(1, 1), (1, 60), (1, 0), (0, 3)] {
            assert_eq!(
                plain(Some((SwitchId(switch), port))),
                [false, true, true],
                "switch {switch} to port {port}"
            );
        }
        // A spine that sends it down to another leaf, which sends it up again: round for ever, or longer and with a turn.
        assert_eq!(plain(Some((SwitchId(3), 2))), [false, true, true]);
    }
}
