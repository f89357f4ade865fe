//! Today's tables made fit to start from: what a search replaces whatever it is asked to keep.

use netloom_model::{Fabric, Routes, Table};
use netloom_routing::PathSet;
use netloom_topology::Structure;

use crate::OptimizeError;
use crate::tables::admissible_lft;

/// `routes` with every entry towards a host that is missing or not admissible (not on a shortest up*/down* way)
/// replaced by an admissible one, and those towards switches that lead nowhere, are missing or turn up after they went
/// down where there is a better way. The optimiser begins with these, so no other entry changes against one's will.
///
/// # Errors
/// [`OptimizeError`] if the tables are of another shape or not by destination.
pub fn repaired(
    fabric: &Fabric,
    structure: &Structure,
    paths: &PathSet,
    routes: &Routes,
) -> Result<Routes, OptimizeError> {
    let lft = routes.lft().ok_or(OptimizeError::NotByDestination)?;
    for (expected, found) in
        [(fabric.switch_count(), lft.switches()), (routes.dests(fabric).count(), lft.dests())]
    {
        if expected != found {
            return Err(OptimizeError::Shape { expected, found });
        }
    }
    let table = Table::ByDest(admissible_lft(fabric, structure, paths, lft, routes.lmc));
    Ok(Routes { table, ..routes.clone() })
}

#[cfg(test)]
mod tests {
    use netloom_model::{DestId, HostId};
    use netloom_routing::{Engine, EngineOptions, route};
    use netloom_topology::{detect, generate};

    use super::*;

    #[test]
    fn only_what_is_missing_or_leads_astray_is_replaced() {
        let fabric = generate("two-level:leaves=3,hosts=2,spines=2").unwrap();
        let structure = detect(&fabric);
        let paths = PathSet::admissible(&fabric, &structure);
        let good = route(Engine::Ftree, &fabric, &structure, &EngineOptions::default()).unwrap();
        assert_eq!(repaired(&fabric, &structure, &paths, &good).unwrap(), good);
        let Table::ByDest(mut lft) = good.table.clone() else { panic!() };
        // Leaf 0 sends to host 5 of leaf 2 nowhere, and to host 4 back to its own host 0.
        let leaf = fabric.leaf(HostId(0));
        lft.set(leaf, DestId(5), None);
        lft.set(leaf, DestId(4), Some(fabric.link_port(fabric.reverse(fabric.host_link(HostId(0))))));
        let bad = Routes { table: Table::ByDest(lft.clone()), ..good.clone() };
        let mended = repaired(&fabric, &structure, &paths, &bad).unwrap();
        assert_eq!(mended.lft().unwrap().changed_entries(&lft), 2);
    }
}
