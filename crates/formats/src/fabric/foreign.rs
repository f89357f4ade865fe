//! Files of the field that are no fabrics, by what they are: so that a message names them and says what to run.

/// What a file is that no reader of fabrics takes, with what to do instead; `None`: nobody knows.
///
/// Sources: infiniband-diags 2.1 (`ibroute`), UFM SDK (NDT), opa-fm (`opaextractlinks`), Slurm
/// (topology.conf), Containerlab, HPCC's and ns3-rdma's `topology.txt`, BookSim 2 (anynet).
pub(super) fn named(text: &str) -> Option<&'static str> {
    let mut lines = text.lines().map(str::trim_ascii).filter(|line| !line.is_empty());
    let first = lines.next()?;
    let whole = || text.lines().map(str::trim_ascii);
    let numbers =
        |line: &str| line.split_ascii_whitespace().all(|word| word.bytes().all(|b| b.is_ascii_digit()));
    if whole().any(|line| line.starts_with("Unicast lids")) {
        return Some("forwarding tables");
    }
    if is_ndt(first) {
        return Some("UFM's cabling plan (NDT) without StartDevice, StartPort, EndDevice and EndPort");
    }
    if first.contains("NodeGUID;PortNum;NodeType") {
        return Some("opaextractlinks' table: Omni-Path is not read");
    }
    if whole().any(|line| line.starts_with("SwitchName=")) {
        return Some("Slurm's topology.conf, which tells no cables: run ibnetdiscover");
    }
    if whole().any(|line| line == "topology:") && whole().any(|line| line == "nodes:") {
        return Some("Containerlab's file: write its cables as a table");
    }
    if first.starts_with("router ") && first.contains(" node ") {
        return Some("BookSim's anynet: write its cables as a table");
    }
    if first.split_ascii_whitespace().count() == 3 && numbers(first) && lines.next().is_some_and(numbers) {
        return Some("a topology.txt of ns-3: write its cables as a table");
    }
    if first.starts_with("graph ") || first.starts_with("digraph ") {
        return Some("a picture's source (Graphviz), which is only written: run ibnetdiscover");
    }
    if first.starts_with('{') || first.starts_with('[') {
        return Some("JSON: run ibnetdiscover");
    }
    None
}

/// Whether a line has the column titles of UFM's cabling plan.
pub(super) fn is_ndt(line: &str) -> bool {
    let titles: String = line.to_ascii_lowercase().chars().filter(|c| !" \"".contains(*c)).collect();
    titles.starts_with("startdevice,") || titles.contains("#fields:startdevice,")
}

#[cfg(test)]
mod tests {
    use super::named;

    #[test]
    fn files_of_the_field_are_named() {
        let cases = [
            ("Unicast lids [0-4] of switch\n", "forwarding tables"),
            ("#Fields:StartDevice,StartPort,EndDevice\nleaf0,Port 1,n00\n", "without StartDevice"),
            ("Rate;MTU;NodeGUID;PortNum;NodeType;NodeDesc\n100g;10240;0x1;1;FI;cn01\n", "opaextractlinks"),
            ("# tree\nSwitchName=leaf0 Nodes=n[00-01]\n", "topology.conf"),
            ("name: ls\ntopology:\n  nodes:\n    leaf1: {kind: linux}\n", "Containerlab"),
            ("router 0 node 0 node 1 router 1\n", "BookSim"),
            ("6 2 5\n4 5\n0 4 100Gbps 0.001ms 0\n", "ns-3"),
            ("digraph \"x\" {\n", "Graphviz"),
            ("{\"status\": \"success\"}\n", "JSON"),
        ];
        for (text, name) in cases {
            assert!(named(text).is_some_and(|told| told.contains(name)), "{text}: {:?}", named(text));
        }
        for text in ["", "\n\n", "hello\n", "1 2 3\nhello\n", "router\n"] {
            assert_eq!(named(text), None, "{text}");
        }
    }
}
