//! OpenSM's QoS policy file: the service level that a path record query is answered with, by groups of ports.
//!
//! ```text
//! port-groups
//!     port-group
//!         name: g0
//!         port-guid: 0x0002c90300000001, 0x0002c90300000101
//!     end-port-group
//! end-port-groups
//! ```
//!
//! Rules are looked through in order, the first that matches counts; queries that none matches get the level named `DEFAULT`, 0 here. So
//! level 0 needs no rules. Written only: netloom has no use for other policies.
//!
//! Source: OpenSM's `doc/QoS_management_in_OpenSM.txt`.

use std::fmt::Write as _;

use netloom_model::{Fabric, LevelGroups, Levels};

use crate::error::WriteError;

/// Pairs of groups that a policy may speak of: OpenSM looks through them for every query.
const MOST_PAIRS: usize = 100_000;
/// GUIDs a line.
const GUIDS: usize = 8;

/// A policy that gives every pair of hosts its level; `origin` says what made it, in one line.
///
/// # Errors
/// [`WriteError::TooManyRules`] if every pair has a level of its own and there are too many.
pub fn write_qos_policy(fabric: &Fabric, levels: &Levels, origin: &str) -> Result<String, WriteError> {
    let of_hosts;
    let groups = match levels {
        Levels::Groups(groups) => groups,
        Levels::Pairs { .. } => {
            let pairs = fabric.host_count() * fabric.host_count().saturating_sub(1);
            if pairs > MOST_PAIRS {
                return Err(WriteError::TooManyRules { pairs, most: MOST_PAIRS });
            }
            of_hosts = LevelGroups::of_hosts(fabric, levels);
            &of_hosts
        }
    };
    let mut members = vec![Vec::new(); usize::from(groups.groups())];
    for host in fabric.hosts() {
        members[usize::from(groups.group(host))].push(format!("0x{:016x}", fabric.host_port_guid(host)));
    }
    // Writing to a String cannot fail.
    let mut out = format!("# netloom {origin}\nport-groups\n");
    for (group, guids) in members.iter().enumerate().filter(|(_, guids)| !guids.is_empty()) {
        let _ = writeln!(out, "    port-group\n        name: g{group}");
        for line in guids.chunks(GUIDS) {
            let _ = writeln!(out, "        port-guid: {}", line.join(", "));
        }
        let _ = writeln!(out, "    end-port-group");
    }
    let used: Vec<u16> = (0..groups.groups()).filter(|&g| !members[usize::from(g)].is_empty()).collect();
    let most = used.iter().flat_map(|&i| used.iter().map(move |&j| groups.level(i, j))).max().unwrap_or(0);
    let _ = writeln!(out, "end-port-groups\nqos-levels");
    for level in 0..=most {
        let name = if level == 0 { "DEFAULT".to_owned() } else { format!("sl{level}") };
        let _ = writeln!(out, "    qos-level\n        name: {name}\n        sl: {level}\n    end-qos-level");
    }
    let _ = writeln!(out, "end-qos-levels\nqos-match-rules");
    let mut rule = |from: &[String], to: Option<u16>, level: u8| {
        let _ = writeln!(out, "    qos-match-rule\n        source: {}", from.join(", "));
        if let Some(to) = to {
            let _ = writeln!(out, "        destination: g{to}");
        }
        let _ = writeln!(out, "        qos-level-name: sl{level}\n    end-qos-match-rule");
    };
    let destinations: Vec<Option<u16>> =
        if groups.by_sender() { vec![None] } else { used.iter().copied().map(Some).collect() };
    for to in destinations {
        for level in 1..=most {
            let has = |from: &u16| groups.level(*from, to.unwrap_or(0)) == level;
            let from: Vec<String> = used.iter().copied().filter(has).map(|g| format!("g{g}")).collect();
            if !from.is_empty() {
                rule(&from, to, level);
            }
        }
    }
    let _ = writeln!(out, "end-qos-match-rules");
    Ok(out)
}

#[cfg(test)]
mod tests {
    use netloom_model::{End, FabricBuilder, HostId, HostSpec, SwitchSpec};

    use super::*;

    fn fabric(hosts: u16) -> Fabric {
        let mut b = FabricBuilder::new();
        let s = b.switch(SwitchSpec::new("s", 1, hosts));
        for i in 0..hosts {
            let h = b.host(HostSpec::new(format!("node{i}"), 0x1000 + 16 * u64::from(i)));
            b.cable(End::Switch(s, i + 1), End::Host(h), 1e9);
        }
        b.build().unwrap()
    }

    /// What OpenSM answers by the file: the level of the first rule whose groups have both ends.
    fn answer(fabric: &Fabric, policy: &str, from: HostId, to: HostId) -> u8 {
        let guid = |host| format!("0x{:016x}", fabric.host_port_guid(host));
        let section = |name: &str| policy.split(&format!("{name}\n")).nth(1).map(str::to_owned);
        let has = |group: &str, host| {
            let head = format!("name: {group}\n");
            let body = policy.split(&head).nth(1).unwrap().split("end-port-group").next().unwrap();
            body.contains(&guid(host))
        };
        let rules = section("qos-match-rules").unwrap();
        for rule in rules.split("end-qos-match-rule\n").filter(|rule| rule.contains("source:")) {
            let value = |key: &str| rule.lines().find_map(|line| line.trim().strip_prefix(key));
            let one_of = |groups: &str, host| groups.split(',').any(|group| has(group.trim(), host));
            let matches = one_of(value("source: ").unwrap(), from)
                && value("destination: ").is_none_or(|groups| one_of(groups, to));
            if matches {
                return value("qos-level-name: sl").unwrap().parse().unwrap();
            }
        }
        0
    }

    #[test]
    fn every_pair_is_answered_with_its_level() {
        let f = fabric(9);
        let groups = Levels::Groups(LevelGroups::across_leaves(&f, 3, 1));
        let sources = Levels::Groups(LevelGroups::by_source(&f, 4, 2));
        for levels in [groups, sources, Levels::pairs(3, 5)] {
            let policy = write_qos_policy(&f, &levels, "test").unwrap();
            assert!(policy.contains("name: DEFAULT\n        sl: 0"));
            for (from, to) in f.hosts().flat_map(|a| f.hosts().map(move |b| (a, b))).filter(|(a, b)| a != b) {
                assert_eq!(answer(&f, &policy, from, to), levels.level(from, to), "{from:?} {to:?}");
            }
        }
    }

    #[test]
    fn a_level_for_each_of_too_many_pairs_is_refused() {
        let f = fabric(317);
        let refused = write_qos_policy(&f, &Levels::pairs(5, 1), "test").unwrap_err().to_string();
        assert!(refused.starts_with("100172 pairs of hosts have a service level each"), "{refused}");
        let groups = Levels::Groups(LevelGroups::across_leaves(&f, 5, 1));
        assert!(write_qos_policy(&f, &groups, "test").is_ok());
    }
}
