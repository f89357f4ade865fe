//! Machines with several adapters: ranks are dealt to machines, then to their adapters.

use netloom_model::{
    AdapterChoice, Allocation, End, Fabric, FabricBuilder, HostSpec, JobSpec, Machines, Mapping, Source,
    SwitchSpec,
};
use netloom_traffic::{Placed, ResolvedJob, pattern, place, room};

/// Machines `g0`, `g1`, … with these adapters each, the adapter's last digit saying its leaf; leaves meet in a spine.
fn rails(machines: &[&[&str]]) -> Fabric {
    let mut b = FabricBuilder::new();
    let mut guid = 0x1000;
    let spine = b.switch(SwitchSpec::new("spine", 0x1, 40));
    let leaves: Vec<usize> = (0..8)
        .map(|leaf| {
            let at = b.switch(SwitchSpec::new(format!("leaf{leaf}"), 0x10 + leaf, 40));
            b.cable(End::Switch(at, 40), End::Switch(spine, leaf as u16 + 1), 1e9);
            at
        })
        .collect();
    for (number, adapters) in machines.iter().enumerate() {
        for name in *adapters {
            guid += 0x10;
            let machine = format!("g{number}");
            let host =
                HostSpec { machine: machine.clone(), ..HostSpec::new(format!("{machine} {name}"), guid) };
            let host = b.host(host);
            let leaf = name.bytes().last().map_or(0, |digit| usize::from(digit - b'0') % 8);
            b.cable(End::Switch(leaves[leaf], number as u16 + 1), End::Host(host), 1e9);
        }
    }
    b.build().unwrap()
}

fn even(machines: usize, adapters: usize) -> Fabric {
    let names: Vec<String> = (0..adapters).map(|adapter| format!("mlx5_{adapter}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    rails(&vec![names.as_slice(); machines])
}

fn job(ranks: u32, allocation: Allocation) -> ResolvedJob {
    let source = format!("all-to-all:ranks={ranks}");
    ResolvedJob {
        traffic: pattern(&source, None).unwrap(),
        spec: JobSpec {
            name: "t".into(),
            source: Source::Pattern(source),
            allocation,
            mapping: Mapping::Block,
            adapters: AdapterChoice::default(),
            ranks_per_host: None,
            copies: 1,
            cross_copies: false,
            grid: Vec::new(),
        },
        rank_hosts: None,
    }
}

fn listed(names: &[&str]) -> Allocation {
    Allocation::Hosts(names.iter().map(|name| (*name).to_owned()).collect())
}

fn with(mut job: ResolvedJob, change: impl FnOnce(&mut ResolvedJob)) -> ResolvedJob {
    change(&mut job);
    job
}

fn choose(job: ResolvedJob, only: &[&str], storage: &[&str]) -> ResolvedJob {
    let parse = |list: &[&str]| list.iter().map(|text| text.parse().unwrap()).collect();
    with(job, |job| job.spec.adapters = AdapterChoice { only: parse(only), storage: parse(storage) })
}

/// The description of every rank's host, machine and adapter without what all names share: `g0 mlx5_1` is `0.1`.
fn ranks(f: &Fabric, placed: &Placed) -> Vec<String> {
    let hosts = placed.jobs.iter().flat_map(|job| &job.placement.host_of_rank);
    hosts.map(|&h| f.host_name(h).replace('g', "").replace(" mlx5_", ".")).collect()
}

fn placed(f: &Fabric, job: ResolvedJob) -> Vec<String> {
    ranks(f, &place(f, &[job], 1).unwrap())
}

fn refusal(f: &Fabric, job: ResolvedJob) -> String {
    place(f, &[job], 1).unwrap_err().to_string()
}

#[test]
fn four_ranks_on_four_machines_are_one_on_each() {
    let f = even(4, 4);
    let all = listed(&["g0", "g1", "g2", "g3"]);
    assert_eq!(placed(&f, job(4, all.clone())), ["0.0", "1.0", "2.0", "3.0"]);
    // Eight: two on each, on its first two adapters.
    let eight = ["0.0", "0.1", "1.0", "1.1", "2.0", "2.1", "3.0", "3.1"];
    assert_eq!(placed(&f, job(8, all.clone())), eight);
    assert_eq!(placed(&f, with(job(8, all.clone()), |j| j.spec.ranks_per_host = Some(2))), eight);
    // The job has every adapter of its machines, whoever drives it.
    assert_eq!(place(&f, &[job(4, all.clone())], 1).unwrap().jobs[0].hosts.len(), 16);
    // Five: nobody goes without, as Slurm deals them.
    assert_eq!(placed(&f, job(5, all.clone())), ["0.0", "0.1", "1.0", "2.0", "3.0"]);
    // More ranks than adapters come round again, if asked for.
    let dense = with(job(12, listed(&["g0", "g1"])), |j| j.spec.ranks_per_host = Some(6));
    assert_eq!(placed(&f, dense)[..7], ["0.0", "0.1", "0.2", "0.3", "0.0", "0.1", "1.0"]);
    assert_eq!(refusal(&f, job(17, all)), "job \"t\" lists 4 hosts, 1 x 17 ranks at 4 a host need 5");
}

#[test]
fn free_machines_are_given_whole() {
    let f = even(4, 4);
    assert_eq!(placed(&f, job(4, Allocation::Contiguous(0))), ["0.0", "1.0", "2.0", "3.0"]);
    assert_eq!(placed(&f, job(2, Allocation::Contiguous(2))), ["2.0", "3.0"]);
    assert_eq!(placed(&f, job(8, Allocation::Contiguous(2)))[3..6], ["2.3", "3.0", "3.1"]);
    for allocation in [Allocation::Random, Allocation::RandomAtMost(4), Allocation::Fragmented] {
        let mut machines = placed(&f, job(4, allocation));
        machines.sort();
        assert_eq!(machines, ["0.0", "1.0", "2.0", "3.0"]);
    }
    // One job's machine is nobody else's, though it uses one adapter of it.
    let first = choose(job(1, listed(&["g0"])), &["mlx5_3"], &[]);
    let both = place(&f, &[first, job(3, Allocation::Contiguous(0))], 1).unwrap();
    assert_eq!(ranks(&f, &both), ["0.3", "1.0", "2.0", "3.0"]);
    assert!(
        refusal(&f, job(2, Allocation::Contiguous(4))).contains("starts at host 4: expected one below 4")
    );
}

#[test]
fn every_mapping_deals_to_machines_first() {
    let f = even(4, 2);
    let all = || listed(&["g0", "g1", "g2", "g3"]);
    let mapped = |mapping| placed(&f, with(job(8, all()), |j| j.spec.mapping = mapping));
    assert_eq!(mapped(Mapping::Cyclic), ["0.0", "1.0", "2.0", "3.0", "0.1", "1.1", "2.1", "3.1"]);
    // All machines are on the leaf of their first adapter.
    assert_eq!(mapped(Mapping::CyclicInLeaf), mapped(Mapping::Cyclic));
    assert_eq!(mapped(Mapping::FillLeaves(vec![0])), mapped(Mapping::Block));
    // A 4x2 grid in 1x2 tiles: ranks 0 and 4 on the first machine, the lower one on its first adapter.
    let tiled = with(job(8, all()), |j| {
        j.spec.mapping = Mapping::Tiled(vec![vec![1, 2]]);
        j.spec.grid = vec![4, 2];
    });
    assert_eq!(placed(&f, tiled), mapped(Mapping::Cyclic));
    // Whoever is shuffled where: of a machine's ranks the first is on its first adapter.
    let mut seen = [0; 4];
    for name in mapped(Mapping::Random) {
        let (machine, adapter) = name.split_once('.').unwrap();
        let machine: usize = machine.parse().unwrap();
        assert_eq!(adapter, seen[machine].to_string());
        seen[machine] += 1;
    }
    let file = |names: &[&str]| {
        with(job(8, all()), |j| {
            j.spec.mapping = Mapping::File("f".into());
            j.rank_hosts = Some(names.iter().map(|name| (*name).to_owned()).collect());
        })
    };
    let names = ["g3", "g3", "g0 mlx5_1", "g1", "g0 mlx5_1", "g2", "g2 mlx5_0", "g1"];
    assert_eq!(placed(&f, file(&names)), ["3.0", "3.1", "0.1", "1.0", "0.1", "2.0", "2.0", "1.1"]);
    let full = refusal(&f, file(&["g3"; 8]));
    assert!(full.contains("rank 2 is one too many on \"g3\": expected at most 2"), "{full}");
}

#[test]
fn a_list_of_adapters_is_taken_as_it_stands() {
    let f = even(3, 2);
    let rail = job(3, listed(&["g2 mlx5_1", "g0 mlx5_1", "g1 mlx5_1"]));
    assert_eq!(placed(&f, rail), ["2.1", "0.1", "1.1"]);
    let both = job(4, listed(&["g0 mlx5_1", "g0 mlx5_0", "g1"]));
    // Three places: what is left over goes to the first of them.
    assert_eq!(placed(&f, both), ["0.1", "0.1", "0.0", "1.0"]);
    let twice = refusal(&f, job(2, listed(&["g0", "g0 mlx5_1"])));
    assert_eq!(twice, "job \"t\" lists host \"g0 mlx5_1\" twice");
}

#[test]
fn adapters_are_chosen_by_name_list_rail_and_switch() {
    let f = even(3, 4);
    let all = || listed(&["g0", "g1", "g2"]);
    assert_eq!(placed(&f, choose(job(3, all()), &["mlx5_2"], &[])), ["0.2", "1.2", "2.2"]);
    assert_eq!(placed(&f, choose(job(3, all()), &["rail:3"], &[])), ["0.3", "1.3", "2.3"]);
    assert_eq!(placed(&f, choose(job(3, all()), &["switch:leaf1"], &[])), ["0.1", "1.1", "2.1"]);
    let six = ["0.1", "0.3", "1.1", "1.3", "2.1", "2.3"];
    assert_eq!(placed(&f, choose(job(6, all()), &["mlx5_1", "mlx5_3"], &[])), six);
    assert_eq!(placed(&f, choose(job(6, all()), &[], &["rail:0", "switch:leaf2"])), six);
    assert_eq!(placed(&f, choose(job(6, Allocation::Contiguous(0)), &[], &["rail:0", "switch:leaf2"])), six);
    let limited = place(&f, &[choose(job(6, all()), &["mlx5_1", "mlx5_3"], &[])], 1).unwrap();
    assert_eq!(limited.jobs[0].hosts.len(), 6);
}

#[test]
fn adapters_that_are_not_there_are_told_with_their_machine() {
    let f = rails(&[&["mlx5_0", "mlx5_1"], &["mlx5_1", "mlx5_2"], &["mlx5_0"]]);
    let two = || listed(&["g0", "g1"]);
    let said = |only: &[&str], storage: &[&str]| refusal(&f, choose(job(2, two()), only, storage));
    assert_eq!(
        said(&["mlx5_9"], &[]),
        "job \"t\": adapters: no machine of the fabric has adapter \"mlx5_9\", did you mean \"mlx5_0\"?"
    );
    assert!(said(&[], &["rail:2"]).contains("storage: no machine of the fabric has rail 2 (counted from 0)"));
    assert!(said(&["switch:leaf"], &[]).contains("adapter on a switch \"leaf\", did you mean \"leaf0\"?"));
    assert!(said(&["mlx5_0"], &[]).contains("machine \"g1\" has no adapter \"mlx5_0\""));
    assert!(said(&["rail:0"], &[]).contains(
        "rail 0 is adapter \"mlx5_0\" of machine \"g0\" and \"mlx5_1\" of \"g1\": expected one adapter, name it"
    ));
    let left = refusal(&f, choose(job(1, listed(&["g2"])), &[], &["mlx5_0"]));
    assert_eq!(left, "job \"t\" lists \"g2\", of which its adapters and storage leave nothing");
    let named = refusal(&f, choose(job(1, listed(&["g0 mlx5_1"])), &["mlx5_0"], &[]));
    assert!(named.contains("lists \"g0 mlx5_1\", of which"), "{named}");
    // Free machines that lack it are passed over.
    let free = choose(job(2, Allocation::Contiguous(0)), &["mlx5_1"], &[]);
    assert_eq!(placed(&f, free), ["0.1", "1.1"]);
    let few = refusal(&f, choose(job(3, Allocation::Contiguous(0)), &["mlx5_1"], &[]));
    assert!(few.contains("needs 3 hosts (1 x 3 ranks, 1 a host), 2 of the fabric's 3 are free"), "{few}");
}

#[test]
fn a_dead_cable_costs_its_adapter_alone() {
    let whole = even(2, 2);
    let link = whole.host_link(whole.hosts().next().unwrap());
    let f = whole.with_dead([link]);
    assert_eq!(placed(&f, job(3, listed(&["g0", "g1"]))), ["0.1", "0.1", "1.0"]);
    assert_eq!(placed(&f, job(2, Allocation::Contiguous(0))), ["0.1", "1.0"]);
    assert_eq!(
        refusal(&f, job(1, listed(&["g0 mlx5_0"]))),
        "job \"t\": the cable of host \"g0 mlx5_0\" is dead"
    );
}

#[test]
fn a_job_that_does_not_say_has_a_rank_on_each_adapter() {
    let f = even(4, 4);
    let none = AdapterChoice::default();
    let two =
        AdapterChoice { only: vec!["mlx5_0".parse().unwrap(), "mlx5_2".parse().unwrap()], ..none.clone() };
    assert_eq!(room(&f, &listed(&["g0", "g1"]), &none, None), 8);
    assert_eq!(room(&f, &listed(&["g0", "g1"]), &none, Some(3)), 6);
    assert_eq!(room(&f, &listed(&["g0", "g1 mlx5_3", "nobody"]), &none, None), 6);
    assert_eq!(room(&f, &Allocation::Contiguous(1), &two, None), 6);
    assert_eq!(room(&f, &Allocation::Random, &none, None), 16);
    assert_eq!(Machines::of(&f).all().len(), 4);
}
