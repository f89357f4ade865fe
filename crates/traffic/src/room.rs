//! How many ranks a job has that does not say so: as many as its machines have room for.

use netloom_model::{AdapterChoice, Allocation, Fabric, Machine, Machines};

use crate::adapters::Allowed;
use crate::allocate::Names;

/// `ranks_per_host` on each machine of an allocation; unless that is given, one on each adapter that the job uses. Machines that do
/// not exist count as one adapter: placing refuses them.
pub fn room(
    fabric: &Fabric,
    allocation: &Allocation,
    adapters: &AdapterChoice,
    ranks_per_host: Option<u32>,
) -> u64 {
    let machines = Machines::of(fabric);
    let allowed = Allowed::of(fabric, &machines, "", adapters).ok();
    let ranks = |machine: &Machine| {
        let own = allowed.as_ref().and_then(|allowed| allowed.of_machine(machine));
        ranks_per_host.map_or_else(|| own.as_ref().unwrap_or(machine).adapters.len() as u64, u64::from)
    };
    match allocation {
        Allocation::Hosts(list) => {
            let names = Names::of(fabric, &machines);
            let of_name = |name: &String| match machines.grouped(names.find(name)) {
                found if found.is_empty() => u64::from(ranks_per_host.unwrap_or(1)),
                found => found.iter().map(ranks).sum(),
            };
            list.iter().map(of_name).sum()
        }
        Allocation::Contiguous(start) => {
            let first = (*start as usize).min(machines.all().len() - 1);
            machines.all()[first..].iter().map(ranks).sum()
        }
        _ => machines.all().iter().map(ranks).sum(),
    }
}
