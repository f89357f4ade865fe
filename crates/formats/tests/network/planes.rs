//! Two planes in one file: one is taken, by number or by a name of it, and a finding says so.

use netloom_formats::{FabricFile, FormatError, read_plane};

/// A leaf with machines' adapters of one name: `g0 NAME`, `g1 NAME`, ….
fn plane(number: u32, adapter: &str, machines: std::ops::Range<u32>) -> String {
    let mut leaf =
        format!("Switch\t40 \"S-000000000000a{number:03}\"\t# \"leaf{number}\" base port 0 lid 1 lmc 0\n");
    let mut hosts = String::new();
    for (at, machine) in machines.enumerate() {
        let (id, lid) = (0xb0000 + 0x1000 * u64::from(number) + 0x10 * u64::from(machine), at + 2);
        let port = at + 1;
        let name = format!("g{machine} {adapter}");
        leaf += &format!("[{port}]\t\"H-{id:016x}\"[1]({:x})\t# \"{name}\" lid {lid} 4xEDR\n", id + 1);
        hosts += &format!(
            "Ca\t1 \"H-{id:016x}\"\t# \"{name}\"\n[1]({:x})\t\"S-000000000000a{number:03}\"[{port}]\t# lid {lid} lmc 0 \
             \"leaf{number}\" lid 1 4xEDR\n\n",
            id + 1
        );
    }
    leaf + "\n" + &hosts
}

fn read(text: &str, asked: Option<&str>) -> Result<FabricFile, FormatError> {
    read_plane(text.as_bytes(), "net.txt", None, asked)
}

fn names(file: &FabricFile) -> Vec<&str> {
    file.fabric.hosts().map(|host| file.fabric.host_name(host)).collect()
}

#[test]
fn the_largest_plane_is_taken_and_all_are_told() {
    let text = plane(1, "mlx5_1", 0..3) + &plane(0, "mlx5_0", 0..4);
    let file = read(&text, None).unwrap();
    assert_eq!(names(&file), ["g0 mlx5_0", "g1 mlx5_0", "g2 mlx5_0", "g3 mlx5_0"]);
    assert_eq!(file.fabric.switch_count(), 1);
    // Both subnets begin at LID 1: no LID is anybody else's.
    assert!(file.fabric.hosts().all(|host| file.fabric.host_lid(host).is_some()));
    let [finding] = &file.findings[..] else { panic!("{:?}", file.findings) };
    assert_eq!(finding.kind, "planes");
    assert_eq!(
        finding.text,
        "2 planes that no cable joins: 1 (4 hosts, with \"g0 mlx5_0\"), 2 (3 hosts, with \"g0 mlx5_1\"); plane 1 is taken, \
         \"#2\" behind the file's name takes the second"
    );
}

#[test]
fn a_plane_is_named_by_number_or_by_a_node() {
    let text = plane(0, "mlx5_0", 0..4) + &plane(1, "mlx5_1", 0..4);
    for asked in ["2", "leaf1", "g3 mlx5_1"] {
        let file = read(&text, Some(asked)).unwrap();
        assert_eq!(names(&file)[0], "g0 mlx5_1", "{asked}");
        assert_eq!(file.findings, []);
    }
    assert_eq!(names(&read(&text, Some("1")).unwrap())[0], "g0 mlx5_0");
    let said = |asked: &str| read(&text, Some(asked)).unwrap_err().to_string();
    assert_eq!(
        said("leaf2"),
        "net.txt: expected a plane's number, 1 to 2, or the name of a node in it, found \"leaf2\", did you mean \"leaf0\"?"
    );
    for asked in ["0", "3", "", "-1", "99999999999999999999"] {
        assert!(said(asked).contains("expected a plane's number, 1 to 2"), "{asked}");
    }
}

#[test]
fn an_adapter_with_a_port_on_each_plane_joins_nothing() {
    let text = "Switch\t4 \"S-000000000000a000\"\t# \"leaf0\" base port 0 lid 1 lmc 0\n\
        [1]\t\"H-00000000000b0000\"[1](b0001)\t# \"g0 HCA-1\" lid 2 4xEDR\n\n\
        Switch\t4 \"S-000000000000a001\"\t# \"leaf1\" base port 0 lid 1 lmc 0\n\
        [1]\t\"H-00000000000b0000\"[2](b0002)\t# \"g0 HCA-1\" lid 2 4xEDR\n\n\
        Ca\t2 \"H-00000000000b0000\"\t# \"g0 HCA-1\"\n\
        [1](b0001)\t\"S-000000000000a000\"[1]\t# lid 2 lmc 0 \"leaf0\" lid 1 4xEDR\n\
        [2](b0002)\t\"S-000000000000a001\"[1]\t# lid 2 lmc 0 \"leaf1\" lid 1 4xEDR\n";
    let first = read(text, None).unwrap();
    assert_eq!(names(&first), ["g0 HCA-1"]);
    assert_eq!(first.findings[0].kind, "planes");
    let second = read(text, Some("leaf1")).unwrap();
    assert_eq!(second.fabric.host_port(second.fabric.hosts().next().unwrap()), 2);
    assert!(
        read(text, Some("g0 HCA-1")).unwrap_err().to_string().contains("nodes of several planes are called")
    );
}

#[test]
fn parts_of_other_machines_are_no_planes_unless_asked_for() {
    let text = plane(0, "mlx5_0", 0..4) + &plane(1, "mlx5_0", 4..6);
    let said = read(&text, None).unwrap_err().to_string();
    assert!(said.contains("expected one connected fabric, found 2 parts"), "{said}");
    assert_eq!(names(&read(&text, Some("2")).unwrap()), ["g4 mlx5_0", "g5 mlx5_0"]);
}
