//! Dumps that cannot be a fabric: refused, with file, line and what was expected.

use netloom_formats::read_fabric;

use super::{data, refusal, text};

fn dump() -> String {
    text("opensm/ft2_32/ibnetdiscover.txt")
}

/// Line (from 1) and text of the first line that starts so.
fn find(text: &str, start: &str) -> (usize, String) {
    let (i, line) = text.lines().enumerate().find(|(_, l)| l.starts_with(start)).unwrap();
    (i + 1, line.to_owned())
}

/// `text` with one line replaced, or without it.
fn with_line(text: &str, number: usize, new: Option<&str>) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    match new {
        Some(new) => lines[number - 1] = new,
        None => drop(lines.remove(number - 1)),
    }
    lines.join("\n") + "\n"
}

#[test]
fn binary_input_is_refused() {
    let mut bytes = dump().into_bytes();
    bytes[300] = 0;
    let e = read_fabric(&bytes, "net.txt", None).unwrap_err();
    assert_eq!(e.to_string(), "net.txt:11: expected text, found binary data (a NUL byte)");
    let e = read_fabric(&[0xff; 64], "net.txt", None).unwrap_err().to_string();
    assert!(e.starts_with("net.txt:1: expected the output of ibnetdiscover"), "{e}");
}

#[test]
fn half_a_gzip_file_is_refused() {
    let gz = data("opensm/quartz1/ibnetdiscover.txt.gz");
    let e = read_fabric(&gz[..gz.len() / 2], "net.gz", None).unwrap_err().to_string();
    assert!(e.starts_with("net.gz: truncated gzip data: it ends after "), "{e}");
}

#[test]
fn no_dump_is_refused() {
    let expected = "expected the output of ibnetdiscover (or ibnetdiscover -p) or iblinkinfo, ibdiagnet's db_csv or net_dump, a net file of ibsim, a Cray XC's interconnect, or a table of cables (from,port,to,port,speed)";
    assert_eq!(refusal(""), format!("net.txt: {expected}, found nothing: the input is empty"));
    assert_eq!(refusal("\nhello\n"), format!("net.txt:2: {expected}, found \"hello\""));
    let tables = text("opensm/ft2_32/opensm-lfts.dump");
    assert_eq!(refusal(&tables), format!("net.txt:1: {expected}, found forwarding tables"));
}

#[test]
fn a_dump_cut_anywhere_is_refused_or_whole() {
    for path in ["opensm/ft2_32/ibnetdiscover.txt", "opensm/ft2_32/ibnetdiscover-p.txt"] {
        let text = text(path);
        let whole = read_fabric(text.as_bytes(), "net.txt", None).unwrap().fabric;
        let significant = text.trim_end().len();
        for cut in (0..significant).rev().step_by(7).chain(significant - 120..significant) {
            // The last name of the -p form is not needed to know the fabric, but half of it is half a line.
            let e = read_fabric(&text.as_bytes()[..cut], "net.txt", None);
            assert!(e.is_err(), "{path} cut at byte {cut} of {significant} was read");
        }
        let same = read_fabric(&text.as_bytes()[..significant], "net.txt", None).unwrap().fabric;
        assert_eq!(same.cabling_hash(), whole.cabling_hash());
    }
}

#[test]
fn truncation_is_called_by_its_name() {
    let text = dump();
    let (line, _) = find(&text, "Ca\t1");
    let switches_only: String = text.split_inclusive('\n').take(line - 1).collect();
    let e = refusal(&switches_only);
    assert!(e.contains("truncated dump: expected a record of \"H-0002c90300000"), "{e}");
    let e = refusal(text.trim_end().trim_end_matches("EDR"));
    let last = text.trim_end().lines().count();
    assert!(e.starts_with(&format!("net.txt:{last}: truncated dump: expected a whole line")), "{e}");
    // The last record lacks its line, but its switch has one.
    let e = refusal(&with_line(&text, last, None));
    assert_eq!(
        e,
        format!(
            "net.txt:{}: truncated dump: expected a line for port 1 of \"host0000\", the last record, to which line {} \
             leads",
            last - 1,
            find(&text, "[1]\t\"H-0002c90300000000\"").0
        )
    );
}

#[test]
fn a_port_above_the_radix_is_refused() {
    let text = dump();
    let (line, port) = find(&text, "[8]\t\"S-0002c902000002c0\"[8]");
    let e = refusal(&with_line(&text, line, Some(&port.replace("[8]\t", "[9]\t"))));
    assert_eq!(e, format!("net.txt:{line}: expected port 1 to 8 of \"leaf07\", found 9"));
    let e = refusal(&with_line(&text, line, Some(&port.replace("\"[8]", "\"[40]"))));
    assert_eq!(e, format!("net.txt:{line}: expected port 1 to 8 of \"spine03\", found 40"));
    let e = refusal(&with_line(&text, line, Some(&port.replace("[8]\t", "[0]\t"))));
    assert_eq!(e, format!("net.txt:{line}: expected port 1 to 8 of \"leaf07\", found 0"));
    let (line, header) = find(&text, "Switch\t8");
    let e = refusal(&with_line(&text, line, Some(&header.replace("\t8 ", "\t300 "))));
    assert_eq!(e, format!("net.txt:{line}: expected a number of ports 1 to 254, found 300"));
}

#[test]
fn ends_that_disagree_are_refused_naming_both_lines() {
    let text = dump();
    let (line, port) = find(&text, "[8]\t\"S-0002c902000002c0\"[8]");
    let e = refusal(&with_line(&text, line, Some(&port.replace("\"[8]", "\"[7]"))));
    let other = text.lines().position(|l| l.starts_with("[7]\t\"S-0002c90200000180\"[8]")).unwrap() + 1;
    assert_eq!(
        e,
        format!(
            "net.txt:{other}: expected the two ends of a cable to agree: here \"spine03\"[7] leads to \"leaf06\"[8], \
             but on line {line} \"leaf07\"[8] leads to \"spine03\"[7]"
        )
    );
}

#[test]
fn two_cables_in_a_port_are_refused() {
    let text = dump();
    let (line, port) = find(&text, "[8]\t\"S-0002c902000002c0\"[8]");
    let e = refusal(&with_line(&text, line, Some(&port.replace("[8]\t", "[7]\t"))));
    let earlier = line - 1;
    assert_eq!(
        e,
        format!(
            "net.txt:{line}: expected one cable in port 7 of \"leaf07\", found another on line {earlier}"
        )
    );
}

#[test]
fn the_same_guid_twice_is_refused() {
    let text = dump();
    let (line, header) = find(&text, "Ca\t1 \"H-0002c90300000100\"");
    let (first, _) = find(&text, "Ca\t1 \"H-0002c903000007c0\"");
    let e = refusal(&with_line(&text, line, Some(&header.replace("00000100", "000007c0"))));
    assert_eq!(
        e,
        format!(
            "net.txt:{line}: expected every GUID once, found 0x0002c903000007c0 of \"host0004\" again: line {first} \
             has it as \"host0031\""
        )
    );
    // A host with a switch's GUID.
    let both = text.replace("H-0002c90300000100", "H-0002c902000001c0");
    assert!(
        refusal(&both).contains("expected every GUID once, found 0x0002c902000001c0 of \"host0004\" again")
    );
}

#[test]
fn two_disconnected_halves_are_refused() {
    let half = |s: &str, h: u64, lid: u16| {
        format!(
            "Switch\t2 \"S-00000000000000{s}\"\t# \"leaf{s}\" base port 0 lid {lid} lmc 0\n\
             [1]\t\"H-00000000000001{h:02}\"[1](1{h:02})\t# \"node{h}\" lid {} 4xEDR\n\n\
             Ca\t1 \"H-00000000000001{h:02}\"\t# \"node{h}\"\n\
             [1](1{h:02})\t\"S-00000000000000{s}\"[1]\t# lid {} lmc 0 \"leaf{s}\" lid {lid} 4xEDR\n\n",
            lid + 1,
            lid + 1
        )
    };
    let e = refusal(&(half("a1", 1, 1) + &half("b2", 2, 3)));
    assert_eq!(
        e,
        "net.txt:10: expected one connected fabric, found 2 parts: \"node1\" (with 1 hosts) cannot reach \"node2\" \
         (with 1 hosts)"
    );
}

#[test]
fn a_fabric_without_a_cabled_host_is_refused() {
    let e = refusal(
        "Switch\t2 \"S-00000000000000a1\"\t# \"leaf\" base port 0 lid 1 lmc 0\n\nCa 1 \"H-00000000000000b1\" # \"h\"\n",
    );
    assert_eq!(
        e,
        "net.txt: expected at least one host with a cable to a switch, found 1 adapters and none cabled"
    );
}

#[test]
fn malformed_lines_are_named() {
    let text = dump();
    let (line, _) = find(&text, "[5]\t");
    let e = refusal(&with_line(&text, line, Some("[5]\tnothing")));
    assert_eq!(e, format!("net.txt:{line}: expected [port] \"peer\"[port], found \"[5] nothing\""));
    let e = refusal(&format!("[1]\t\"x\"[1]\n{text}"));
    assert_eq!(e, "net.txt:1: expected a Switch, Ca or Rt line before its ports");
    let ports = super::text("opensm/ft2_32/ibnetdiscover-p.txt");
    let e = refusal(&ports.replacen("4x EDR - SW    35  4", "4x EDR - SW    35  ", 1));
    assert!(e.starts_with("net.txt:1: expected TYPE LID PORT 0xGUID WIDTH SPEED"), "{e}");
}
