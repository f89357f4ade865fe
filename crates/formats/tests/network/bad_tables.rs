//! Forwarding tables that cannot be, and those that OpenSM would swallow.

use netloom_formats::{LftFaultKind, read_lfts};
use netloom_model::Fabric;

use super::{fabric, text};

fn fixture() -> (Fabric, String) {
    (fabric("opensm/ft2_32/ibnetdiscover.txt"), text("opensm/ft2_32/opensm-lfts.dump"))
}

fn refusal(fabric: &Fabric, text: &str) -> String {
    read_lfts(text.as_bytes(), "r.lfts", fabric).unwrap_err().to_string()
}

fn faults(fabric: &Fabric, text: &str) -> Vec<(usize, LftFaultKind, String)> {
    let file = read_lfts(text.as_bytes(), "r.lfts", fabric).unwrap();
    assert_eq!(file.faults.len(), file.faults_total);
    file.faults.into_iter().map(|f| (f.line, f.kind, f.text)).collect()
}

#[test]
fn a_switch_that_is_not_there_is_refused() {
    let (fabric, text) = fixture();
    let e = refusal(&fabric, &text.replacen("guid 0x0002c90200000000 (", "guid 0x0002c902000000ff (", 1));
    assert_eq!(
        e,
        "r.lfts:1: expected a switch of the fabric (12 of them), found GUID 0x0002c902000000ff ('leaf00')"
    );
}

#[test]
fn a_lid_out_of_range_is_refused() {
    let (fabric, text) = fixture();
    for (bad, shown) in [("0xc000", "0xc000"), ("0x0000", "0x0000"), ("0x1ffff", "0x1ffff")] {
        let e = refusal(&fabric, &text.replacen("0x0005 ", &format!("{bad} "), 1));
        let line = 1 + text.lines().position(|l| l.starts_with("0x0005 ")).unwrap();
        assert_eq!(e, format!("r.lfts:{line}: expected a unicast LID 0x0001 to 0xbfff, found {shown}"));
    }
}

#[test]
fn what_is_no_table_is_refused() {
    let (fabric, text) = fixture();
    let none = "r.lfts: expected forwarding tables (\"Unicast lids ... guid 0xGUID\" lines), found none";
    assert_eq!(refusal(&fabric, "hello\n"), none);
    assert_eq!(refusal(&fabric, ""), none);
    assert_eq!(
        refusal(&fabric, "0x0001 1\n"),
        "r.lfts:1: expected a \"Unicast lids ... guid 0xGUID\" line before the first entry"
    );
    assert_eq!(
        refusal(&fabric, "Unicast lids of leaf00\n"),
        "r.lfts:1: expected \"Unicast lids ... guid 0xGUID\", found \"Unicast lids of leaf00\""
    );
    let e = refusal(&fabric, &text.replacen("0x0005 005", "0x0005 five", 1));
    assert!(e.contains(": expected 0xLID PORT, found \"0x0005 five # "), "{e}");
    let e = refusal(&fabric, &text.replacen("0x0005 005", "0x0005 256", 1));
    assert!(e.ends_with(": expected a port 0 to 255, found 256"), "{e}");
    let e = read_lfts(b"Unicast lids\0", "r.lfts", &fabric).unwrap_err().to_string();
    assert_eq!(e, "r.lfts:1: expected text, found binary data (a NUL byte)");
}

#[test]
fn truncated_tables_are_refused() {
    let (fabric, text) = fixture();
    let last_table = text.rfind("Unicast").unwrap();
    for cut in (last_table..text.trim_end().len() - "lids dumped".len()).step_by(3) {
        // Cut where a table ends, the file is short of a table, which `check` counts.
        let e = read_lfts(&text.as_bytes()[..cut], "r.lfts", &fabric);
        assert!(cut == last_table || e.is_err(), "cut at {cut} was read");
    }
    let e = refusal(&fabric, &text[..text.len() - 40]);
    assert!(e.contains(": truncated: expected "), "{e}");
}

#[test]
fn ports_that_lead_nowhere_are_faults() {
    let (fabric, text) = fixture();
    let line = 1 + text.lines().position(|l| l.starts_with("0x0005 ")).unwrap();
    let above = faults(&fabric, &text.replacen("0x0005 005", "0x0005 009", 1));
    assert_eq!(
        above,
        [(line, LftFaultKind::PortAboveRadix, "expected port 0 to 8 of \"leaf00\", found 9".to_owned())]
    );
    let zero = faults(&fabric, &text.replacen("0x0005 005", "0x0005 000", 1));
    assert_eq!(
        zero,
        [(
            line,
            LftFaultKind::PortToNowhere,
            "port 0 of \"leaf00\" for LID 0x0005, which is not its own".to_owned()
        )]
    );
    // leaf00's port 5 is dead: every entry through it leads nowhere.
    let leaf = fabric.leaf(netloom_model::HostId(0));
    let cut = fabric.with_dead(fabric.link_at(leaf, 5));
    let dead = faults(&cut, &text);
    assert!(dead.iter().all(|f| f.1 == LftFaultKind::PortToNowhere) && dead.len() > 10);
    assert_eq!(dead[0].2, "expected a cabled port of \"leaf00\" towards LID 0x0003, found 5");
}

#[test]
fn lids_of_nobody_and_doubles_are_faults() {
    let (fabric, text) = fixture();
    let head = "Unicast lids guid 0x0002c90200000000\n";
    let unknown = faults(&fabric, &format!("{head}0x0001 1\n0x0fff 2\n"));
    assert_eq!(
        unknown,
        [(
            3,
            LftFaultKind::UnknownLid,
            "LID 0x0fff belongs to nobody in the fabric: its entries are left out".to_owned()
        )]
    );
    let double = faults(&fabric, &format!("{head}0x0001 1\n0x0001 2\n"));
    assert_eq!(
        double,
        [(
            3,
            LftFaultKind::Duplicate,
            "a second entry of \"leaf00\" for LID 0x0001: port 1, then 2".to_owned()
        )]
    );
    let twice = faults(&fabric, &format!("{head}0x0001 1\n{head}0x0002 0\n"));
    assert_eq!(
        twice,
        [(
            3,
            LftFaultKind::Duplicate,
            "a second table of switch \"leaf00\" (the first is on line 1)".to_owned()
        )]
    );
    let stray = faults(&fabric, &format!("{text}[root@sm ~]#\n"));
    assert_eq!(stray.len(), 1);
    assert_eq!(stray[0].1, LftFaultKind::StrayLine);
}

#[test]
fn a_sharp_node_is_no_fault() {
    let (fabric, _) = fixture();
    let text = "Unicast lids guid 0x0002c90200000000\n0x0001 1\n\
                0x0fff 002 # Channel Adapter portguid 0x1: 'Mellanox Technologies Aggregation Node'\n\
                0x0ffe 002 # Router portguid 0x2: 'rt'\n";
    assert_eq!(faults(&fabric, text), []);
}
