//! Damage: what dies, what stays, what is refused.

use netloom_model::{LinkId, SwitchId};
use netloom_testkit::cases;
use netloom_topology::{Damage, DamageError, damage, detect, generate};

fn named(links: &[(&str, u16)], switches: &[&str]) -> Damage {
    Damage {
        links: links.iter().map(|&(n, p)| (n.to_owned(), p)).collect(),
        switches: switches.iter().map(|&n| n.to_owned()).collect(),
        ..Damage::default()
    }
}

#[test]
fn a_named_cable_dies_and_nothing_is_renumbered() {
    let f = cases::ft3_32();
    let d = damage(&f, &named(&[("p0leaf0", 5), ("p0spine0", 1)], &[]), 0).unwrap();
    // Both ends name the same cable.
    assert_eq!(d.cables.len(), 1);
    assert_eq!(f.describe_link(d.cables[0]), "p0leaf0[5] -> p0spine0[1]");
    assert!(!d.fabric.alive(d.cables[0]) && !d.fabric.alive(f.reverse(d.cables[0])));
    assert_eq!(d.fabric.alive_count(), f.alive_count() - 2);
    assert_eq!(d.fabric.cabling_hash(), f.cabling_hash());
    assert!(d.switches.is_empty());
}

#[test]
fn a_dead_switch_takes_its_cables_with_it() {
    let f = cases::ft2_32();
    let d = damage(&f, &named(&[], &["spine02", "leaf07"]), 0).unwrap();
    let names: Vec<_> = d.switches.iter().map(|&s| f.switch_name(s)).collect();
    assert_eq!(names, ["leaf07", "spine02"]);
    // spine02 has 8 cables, leaf07 4 hosts and 4 spines; one cable is of both.
    assert_eq!(d.cables.len(), 8 + 8 - 1);
    let s = detect(&d.fabric);
    assert_eq!(s.findings.len(), 3, "{:?}", s.findings);
    assert!(
        s.findings[0].text.starts_with("switches from which no host can be reached: 2 (leaf07, spine02)")
    );
    assert!(
        s.findings[1]
            .text
            .starts_with("hosts whose cable is dead: 4 (host0028, host0029, host0030, host0031)")
    );
    assert!(s.findings[2].text.starts_with("dead cables between switches: 11"));
}

#[test]
fn random_damage_spares_hosts_and_follows_its_seed() {
    let f = generate("quartz1").unwrap();
    let what = Damage { random_links: 40, ..Damage::default() };
    let d = damage(&f, &what, 7).unwrap();
    assert_eq!(d.cables.len(), 40);
    assert!(d.cables.iter().all(|&l| f.between_switches(l)));
    assert_eq!(damage(&f, &what, 7).unwrap().cables, d.cables);
    assert_ne!(damage(&f, &what, 8).unwrap().cables, d.cables);
    // What is dead already is not drawn again.
    let again = damage(&d.fabric, &what, 7).unwrap();
    assert!(again.cables.iter().all(|l| !d.cables.contains(l)));
    assert_eq!(again.fabric.alive_count(), f.alive_count() - 2 * 80);

    let hosts = damage(&f, &Damage { random_host_links: 3, ..Damage::default() }, 7).unwrap();
    assert!(hosts.cables.len() == 3 && hosts.cables.iter().all(|&l| l < LinkId(3072)));
    let switches = damage(&f, &Damage { random_switches: 5, ..Damage::default() }, 7).unwrap();
    assert_eq!(switches.switches.len(), 5);
    let dead = |s: SwitchId| f.switch_links(s).all(|l| !switches.fabric.alive(l));
    assert!(switches.switches.iter().all(|&s| dead(s)));
}

#[test]
fn all_cables_may_die() {
    let f = cases::ft2_32();
    let d = damage(&f, &Damage { random_links: 32, random_host_links: 32, ..Damage::default() }, 1).unwrap();
    assert_eq!(d.fabric.alive_count(), 0);
    let s = detect(&d.fabric);
    assert_eq!((s.levels, s.pods, s.core_groups, s.regular), (0, 0, 0, false));
}

#[test]
fn impossible_damage_is_refused_with_a_word() {
    let f = cases::ft2_32();
    let says = |what: &Damage, text: &str| assert_eq!(damage(&f, what, 0).unwrap_err().to_string(), text);
    says(&named(&[], &["spine5"]), "there is no switch \"spine5\" (did you mean \"spine00\"?)");
    says(&named(&[("leef03", 1)], &[]), "there is no switch or host \"leef03\" (did you mean \"leaf03\"?)");
    says(
        &named(&[("hots0003", 1)], &[]),
        "there is no switch or host \"hots0003\" (did you mean \"host0003\"?)",
    );
    says(&named(&[], &["host0000"]), "there is no switch \"host0000\"");
    says(&named(&[("leaf03", 9)], &[]), "port 9 of \"leaf03\" has no cable: expected one of 1 to 8");
    let many =
        |links, switches| Damage { random_links: links, random_switches: switches, ..Damage::default() };
    says(
        &many(33, 0),
        "33 random cables between switches asked for: expected at most 32, which is all that is alive",
    );
    assert!(matches!(damage(&f, &many(0, 13), 0), Err(DamageError::TooMany { available: 12, .. })));
    let twins = cases::wired(&[("twin", 1), ("twin", 1)], &[(0, 1, 1)]);
    assert!(matches!(
        damage(&twins, &named(&[], &["twin"]), 0),
        Err(DamageError::AmbiguousName { count: 2, .. })
    ));
}
