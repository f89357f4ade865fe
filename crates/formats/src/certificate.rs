//! Certificates as JSON.
//!
//! ```json
//! {"schema": "netloom.certificate/1", "hosts_hash": "…16 hex digits…", "cabling_hash": "…", "claim": 8.0,
//!  "place": "leaf0 up", "kind": "pigeonhole",
//!  "links": [{"from": "leaf0", "guid": "0x…", "from_port": 3}, …],
//!  "items": [{"leaf": "leaf0", "leaf_guid": "0x…", "destination": "node7", "destination_guid": "0x…", "destination_port": 1}, …]}
//! ```
//!
//! Nodes are found by GUID (names may repeat); the names are for people, and must agree. Kinds: `dual` (`weights`: links
//! with a `weight`), `whole-dual` (`weights`, `grid`), `pigeonhole` (`links`, `items`), `dual-feasible` (`links`, `threshold`), `subset-sum`
//! (`links`, `grid`), `patterns` (`links`, `grid`, `by_size`: pairs of bytes and a weight). Where some destinations' entries are taken as they are, `frozen` lists them
//! (`{"host": …, "guid": …, "port": 1}`). `"pairs": true`: items are
//! what one host sends to another, and an item that is there `k` times stands for the `k` largest of its leaf. `"ways": "shortest"`: of
//! ways with the fewest links, not of up*/down* ones. `roots` lists the GUIDs of switches that were stated
//! to be on top of up*/down* ways, if any were. `order` gives the rank of every switch (`{"switch": …, "guid": …, "rank": 2}`,
//! up is where it is higher) where up and down do not go by the levels of the tree alone. Numbers are written so that
//! they read back exactly. Reading checks that everything named exists, and that up and down are what the fabric's are
//! here; whether the argument holds is `verify`'s business.

use std::collections::HashMap;

use netloom_model::{Certificate, Fabric, HostId, Item, LinkId, Node, NodeId, Reason, SwitchId, Ways};
use serde::{Deserialize, Serialize};

use crate::decompress;
use crate::error::{FormatError, excerpt};

/// The `schema` that files carry.
const SCHEMA: &str = "netloom.certificate/1";
/// As files spell [`Ways::Shortest`].
const SHORTEST: &str = "shortest";
/// As files spell [`Ways::Any`].
const ANY: &str = "any";

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    schema: String,
    hosts_hash: String,
    cabling_hash: String,
    claim: f64,
    place: String,
    kind: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    threshold: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    grid: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    by_size: Option<Vec<(f64, u64)>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    weights: Option<Vec<WeightRow>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    links: Option<Vec<LinkRow>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    items: Option<Vec<ItemRow>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    frozen: Vec<HostRow>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pairs: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ways: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    roots: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    order: Vec<RankRow>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RankRow {
    switch: String,
    guid: String,
    rank: u16,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct LinkRow {
    from: String,
    guid: String,
    from_port: u16,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WeightRow {
    from: String,
    guid: String,
    from_port: u16,
    weight: f64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct HostRow {
    host: String,
    guid: String,
    port: u16,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ItemRow {
    leaf: String,
    leaf_guid: String,
    destination: String,
    destination_guid: String,
    destination_port: u16,
}

/// GUIDs of the stated roots, as files have them.
fn roots(fabric: &Fabric) -> Vec<String> {
    fabric.roots().iter().map(|&s| format!("0x{:016x}", fabric.switch_guid(s))).collect()
}

/// The certificate as indented JSON, with a newline at the end.
///
/// `ranks` are what up and down go by, by switch, where that is not the levels alone; switches without one are those cut
/// off from all hosts.
///
/// # Panics
/// If the certificate names links or nodes that `fabric` does not have.
pub fn write_certificate(
    fabric: &Fabric,
    certificate: &Certificate,
    ranks: Option<&[Option<u16>]>,
) -> String {
    let mut file = File {
        schema: SCHEMA.into(),
        hosts_hash: format!("{:016x}", fabric.hosts_hash()),
        cabling_hash: format!("{:016x}", fabric.cabling_hash()),
        claim: certificate.claim,
        place: certificate.place.clone(),
        kind: certificate.reason.kind().into(),
        threshold: None,
        grid: None,
        by_size: None,
        weights: None,
        links: None,
        items: None,
        frozen: certificate.frozen.iter().map(|&h| host_row(fabric, h)).collect(),
        pairs: certificate.pairs,
        ways: match certificate.ways {
            Ways::UpDown => None,
            Ways::Shortest => Some(SHORTEST.into()),
            Ways::Any => Some(ANY.into()),
        },
        roots: roots(fabric),
        order: ranks.map(|ranks| order(fabric, ranks)).unwrap_or_default(),
    };
    let rows = |links: &[LinkId]| Some(links.iter().map(|&l| link_row(fabric, l)).collect());
    match &certificate.reason {
        Reason::Dual { weights } => file.weights = Some(weight_rows(fabric, weights)),
        Reason::WholeDual { weights, grid } => {
            file.weights = Some(weight_rows(fabric, weights));
            file.grid = Some(*grid);
        }
        Reason::Pigeonhole { links, items } => {
            file.links = rows(links);
            file.items = Some(items.iter().map(|item| item_row(fabric, item)).collect());
        }
        Reason::DualFeasible { links, threshold } => {
            file.links = rows(links);
            file.threshold = Some(*threshold);
        }
        Reason::SubsetSum { links, grid } => {
            file.links = rows(links);
            file.grid = Some(*grid);
        }
        Reason::Patterns { links, grid, by_size } => {
            file.links = rows(links);
            file.grid = Some(*grid);
            file.by_size = Some(by_size.clone());
        }
    }
    let mut text = serde_json::to_string_pretty(&file).expect("a certificate is plain data");
    text.push('\n');
    text
}

fn guid(value: u64) -> String {
    format!("0x{value:016x}")
}

fn order(fabric: &Fabric, ranks: &[Option<u16>]) -> Vec<RankRow> {
    let row = |s: SwitchId| {
        let rank = ranks[s.index()]?;
        Some(RankRow { switch: fabric.switch_name(s).into(), guid: guid(fabric.switch_guid(s)), rank })
    };
    fabric.switches().filter_map(row).collect()
}

fn link_row(fabric: &Fabric, link: LinkId) -> LinkRow {
    let l = fabric.link(link);
    let owner = match fabric.node(l.from) {
        Node::Host(h) => fabric.host_guid(h),
        Node::Switch(s) => fabric.switch_guid(s),
    };
    LinkRow { from: fabric.node_name(l.from).into(), guid: guid(owner), from_port: l.from_port }
}

fn weight_rows(fabric: &Fabric, weights: &[(LinkId, f64)]) -> Vec<WeightRow> {
    let row = |&(l, weight): &(LinkId, f64)| {
        let LinkRow { from, guid, from_port } = link_row(fabric, l);
        WeightRow { from, guid, from_port, weight }
    };
    weights.iter().map(row).collect()
}

fn host_row(fabric: &Fabric, host: HostId) -> HostRow {
    HostRow {
        host: fabric.host_name(host).into(),
        guid: guid(fabric.host_guid(host)),
        port: fabric.host_port(host),
    }
}

fn item_row(fabric: &Fabric, item: &Item) -> ItemRow {
    ItemRow {
        leaf: fabric.switch_name(item.leaf).into(),
        leaf_guid: guid(fabric.switch_guid(item.leaf)),
        destination: fabric.host_name(item.destination).into(),
        destination_guid: guid(fabric.host_guid(item.destination)),
        destination_port: fabric.host_port(item.destination),
    }
}

/// Reads a certificate for `fabric` (JSON in UTF-8, plain or gzipped), whose `ranks` are as in [`write_certificate`].
///
/// # Errors
/// [`FormatError`] names the line of bad JSON, the first thing that `fabric` does not have, or the first cable whose
/// other end is up.
pub fn read_certificate(
    bytes: &[u8],
    label: &str,
    fabric: &Fabric,
    ranks: Option<&[Option<u16>]>,
) -> Result<Certificate, FormatError> {
    let bytes = decompress(bytes, label)?;
    let file: File = serde_json::from_slice(&bytes).map_err(|e| {
        // serde_json's text ends in its own position; we name the line ourselves.
        let text = e.to_string();
        let end = text.rfind(" at line ").unwrap_or(text.len());
        FormatError::at(label, e.line().max(1), excerpt(&text[..end]))
    })?;
    let wrong = |message: String| FormatError::whole(label, message);
    if file.schema != SCHEMA {
        return Err(wrong(format!("expected schema \"{SCHEMA}\", found \"{}\"", excerpt(&file.schema))));
    }
    let hashes = [
        ("hosts_hash", &file.hosts_hash, fabric.hosts_hash(), "host names"),
        ("cabling_hash", &file.cabling_hash, fabric.cabling_hash(), "cabling"),
    ];
    for (key, found, expected, what) in hashes {
        if *found != format!("{expected:016x}") {
            return Err(wrong(format!(
                "the certificate belongs to a fabric with other {what}: expected {key} {expected:016x}, found \"{}\"",
                excerpt(found)
            )));
        }
    }
    let stated = roots(fabric);
    if file.roots != stated {
        let words = |roots: &[String]| match roots {
            [] => "no stated roots".to_owned(),
            some => format!("the roots {}", some.join(",")),
        };
        return Err(wrong(format!(
            "the certificate is of up*/down* ways with {}: expected {}",
            excerpt(&words(&file.roots)),
            words(&stated)
        )));
    }
    let names = Names::new(fabric);
    names.same_order(&file.order, ranks).map_err(wrong)?;
    let links = || -> Result<Vec<LinkId>, FormatError> {
        let rows = file.links.as_ref().ok_or_else(|| wrong(missing(&file.kind, "links")))?;
        rows.iter().map(|r| names.link(&r.from, &r.guid, r.from_port).map_err(wrong)).collect()
    };
    let weights = || -> Result<Vec<(LinkId, f64)>, FormatError> {
        let rows = file.weights.as_ref().ok_or_else(|| wrong(missing(&file.kind, "weights")))?;
        let weight =
            |r: &WeightRow| Ok((names.link(&r.from, &r.guid, r.from_port).map_err(wrong)?, r.weight));
        rows.iter().map(weight).collect()
    };
    let reason = match file.kind.as_str() {
        "dual" => Reason::Dual { weights: weights()? },
        "whole-dual" => {
            let grid = file.grid.ok_or_else(|| wrong(missing("whole-dual", "grid")))?;
            Reason::WholeDual { weights: weights()?, grid }
        }
        "pigeonhole" => {
            let rows = file.items.as_ref().ok_or_else(|| wrong(missing("pigeonhole", "items")))?;
            let items = rows.iter().map(|r| names.item(r)).collect::<Result<_, _>>().map_err(wrong)?;
            Reason::Pigeonhole { links: links()?, items }
        }
        "dual-feasible" => {
            let threshold = file.threshold.ok_or_else(|| wrong(missing("dual-feasible", "threshold")))?;
            Reason::DualFeasible { links: links()?, threshold }
        }
        "subset-sum" => {
            let grid = file.grid.ok_or_else(|| wrong(missing("subset-sum", "grid")))?;
            Reason::SubsetSum { links: links()?, grid }
        }
        "patterns" => {
            let grid = file.grid.ok_or_else(|| wrong(missing("patterns", "grid")))?;
            let by_size = file.by_size.ok_or_else(|| wrong(missing("patterns", "by_size")))?;
            Reason::Patterns { links: links()?, grid, by_size }
        }
        other => {
            return Err(wrong(format!(
                "expected kind dual, whole-dual, pigeonhole, dual-feasible, subset-sum or patterns, found \"{}\"",
                excerpt(other)
            )));
        }
    };
    let host = |r: &HostRow| names.host(&r.host, &r.guid, r.port).map_err(wrong);
    let frozen: Vec<HostId> = file.frozen.iter().map(host).collect::<Result<_, _>>()?;
    let ways = match file.ways.as_deref() {
        None => Ways::UpDown,
        Some(SHORTEST) if frozen.is_empty() => Ways::Shortest,
        Some(ANY) if frozen.is_empty() && matches!(reason, Reason::Dual { .. }) => Ways::Any,
        Some(ANY) if frozen.is_empty() => {
            return Err(wrong(format!(
                "expected kind dual beside \"ways\": \"any\", found {}",
                reason.kind()
            )));
        }
        Some(ways @ (SHORTEST | ANY)) => {
            return Err(wrong(format!("expected no \"frozen\" beside \"ways\": \"{ways}\"")));
        }
        Some(other) => {
            return Err(wrong(format!("expected ways shortest or any, found \"{}\"", excerpt(other))));
        }
    };
    Ok(Certificate { claim: file.claim, place: file.place, reason, frozen, pairs: file.pairs, ways })
}

fn missing(kind: &str, key: &str) -> String {
    format!("expected \"{key}\" in a certificate of kind {kind}")
}

/// Nodes by GUID; hosts also by port, since an adapter may have several.
struct Names<'a> {
    fabric: &'a Fabric,
    switches: HashMap<u64, SwitchId>,
    hosts: HashMap<(u64, u16), HostId>,
}

impl<'a> Names<'a> {
    fn new(fabric: &'a Fabric) -> Self {
        Self {
            fabric,
            switches: fabric.switches().map(|s| (fabric.switch_guid(s), s)).collect(),
            hosts: fabric.hosts().map(|h| ((fabric.host_guid(h), fabric.host_port(h)), h)).collect(),
        }
    }

    fn guid(&self, text: &str) -> Result<u64, String> {
        let digits =
            text.strip_prefix("0x").filter(|d| d.len() == 16 && d.bytes().all(|b| b.is_ascii_hexdigit()));
        digits
            .and_then(|d| u64::from_str_radix(d, 16).ok())
            .ok_or_else(|| format!("expected a GUID of 0x and 16 hex digits, found \"{}\"", excerpt(text)))
    }

    fn same_name(&self, node: NodeId, name: &str, guid: &str) -> Result<(), String> {
        let expected = self.fabric.node_name(node);
        if expected == name {
            return Ok(());
        }
        Err(format!("{guid} is called \"{expected}\" in this fabric, found \"{}\"", excerpt(name)))
    }

    /// Whether the rows say of every cable what `ranks` say: which end is up.
    fn same_order(&self, rows: &[RankRow], ranks: Option<&[Option<u16>]>) -> Result<(), String> {
        let Some(ranks) = ranks else {
            let none = "of up*/down* ways by the levels of the tree: expected no \"order\"";
            return if rows.is_empty() { Ok(()) } else { Err(format!("the ways of this fabric are {none}")) };
        };
        let mut found = vec![None; ranks.len()];
        for row in rows {
            let s = self.switch(&row.switch, &row.guid)?;
            found[s.index()] = Some(row.rank);
        }
        for link in self.fabric.links() {
            let (Some(from), Some(to)) =
                (self.fabric.link_from_switch(link), self.fabric.link_to_switch(link))
            else {
                continue;
            };
            let above = |of: &[Option<u16>]| Some(of[from.index()]?.cmp(&of[to.index()]?));
            if above(ranks).is_some() && above(&found) != above(ranks) {
                let l = self.fabric.link(link);
                return Err(format!(
                    "the certificate is of another order of switches: expected \"order\" to have the cable of \"{}\" port {} \
                     lead {}, as up*/down* ways of this fabric have it",
                    self.fabric.node_name(l.from),
                    l.from_port,
                    if above(ranks) == Some(std::cmp::Ordering::Less) { "up" } else { "down" }
                ));
            }
        }
        Ok(())
    }

    fn switch(&self, name: &str, guid: &str) -> Result<SwitchId, String> {
        let found = self.switches.get(&self.guid(guid)?).copied();
        let s = found.ok_or_else(|| format!("this fabric has no switch {guid} (\"{}\")", excerpt(name)))?;
        self.same_name(self.fabric.switch_node(s), name, guid)?;
        Ok(s)
    }

    fn link(&self, from: &str, guid: &str, port: u16) -> Result<LinkId, String> {
        let value = self.guid(guid)?;
        if let Some(&s) = self.switches.get(&value) {
            self.same_name(self.fabric.switch_node(s), from, guid)?;
            return (self.fabric.link_at(s, port))
                .ok_or_else(|| format!("nothing is cabled at port {port} of \"{}\"", excerpt(from)));
        }
        let h = self.host(from, guid, port)?;
        Ok(self.fabric.host_link(h))
    }

    fn host(&self, name: &str, guid: &str, port: u16) -> Result<HostId, String> {
        let value = self.guid(guid)?;
        let found = self.hosts.get(&(value, port)).copied();
        let h = found.ok_or_else(|| {
            format!("this fabric has no node {guid} with port {port} (\"{}\")", excerpt(name))
        })?;
        self.same_name(self.fabric.host_node(h), name, guid)?;
        Ok(h)
    }

    fn item(&self, row: &ItemRow) -> Result<Item, String> {
        let leaf = self.switch(&row.leaf, &row.leaf_guid)?;
        let destination = self.host(&row.destination, &row.destination_guid, row.destination_port)?;
        Ok(Item { leaf, destination })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netloom_model::{End, FabricBuilder, HostSpec, SwitchSpec};
    use proptest::prelude::*;

    /// Two leaves of the same name and two hosts each, two spines.
    fn fabric() -> Fabric {
        let mut b = FabricBuilder::new();
        let tops: Vec<usize> =
            (0..2).map(|i| b.switch(SwitchSpec::new(format!("spine {i}"), 0x30 + i, 4))).collect();
        for i in 0..2u64 {
            let leaf = b.switch(SwitchSpec::new("leaf \"x\"", 0x10 + i, 4));
            for h in 0..2u64 {
                let host = b.host(HostSpec::new(format!("node{}", 2 * i + h), 0x100 + 16 * (2 * i + h)));
                b.cable(End::Switch(leaf, 1 + h as u16), End::Host(host), 1e9);
                b.cable(End::Switch(leaf, 3 + h as u16), End::Switch(tops[h as usize], 1 + i as u16), 1e9);
            }
        }
        b.build().unwrap()
    }

    fn certificates(f: &Fabric) -> Vec<Certificate> {
        let leaf = f.leaf(HostId(0));
        let links: Vec<LinkId> = f.switch_links(leaf).filter(|&l| f.between_switches(l)).collect();
        let items = (2..4).map(|h| Item { leaf, destination: HostId(h) }).collect();
        let reasons = [
            Reason::Dual { weights: vec![(links[0], 1.0), (f.host_link(HostId(3)), 0.1 + 0.2)] },
            Reason::Dual { weights: vec![] },
            Reason::Pigeonhole { links: links.clone(), items },
            Reason::DualFeasible { links: links.clone(), threshold: 1e-300 },
            Reason::SubsetSum { links: links.clone(), grid: 1.0 / 3.0 },
            Reason::Patterns { links, grid: 0.1, by_size: vec![(0.7, 0), (1e22 / 3.0, u64::from(u32::MAX))] },
        ];
        let certificate = |reason| Certificate::new(1e22 / 3.0, "leaf \"x\" up".into(), reason);
        let mut all: Vec<Certificate> = reasons.into_iter().map(certificate).collect();
        all[1].frozen = vec![HostId(1), HostId(2)];
        all
    }

    #[test]
    fn every_kind_reads_back_exactly() {
        let f = fabric();
        for c in certificates(&f) {
            let text = write_certificate(&f, &c, None);
            assert_eq!(read_certificate(text.as_bytes(), "c.json", &f, None).unwrap(), c, "{text}");
        }
    }

    #[test]
    fn gzipped_certificates_are_read_too() {
        let f = fabric();
        let c = &certificates(&f)[2];
        let zipped = crate::gzip::zipped(write_certificate(&f, c, None).as_bytes());
        assert_eq!(&read_certificate(&zipped, "c.json.gz", &f, None).unwrap(), c);
        let cut = read_certificate(&zipped[..40], "c.json.gz", &f, None).unwrap_err().to_string();
        assert!(cut.starts_with("c.json.gz: truncated gzip data"), "{cut}");
    }

    #[test]
    fn what_is_wrong_is_named() {
        let f = fabric();
        let c = &certificates(&f)[2];
        let text = write_certificate(&f, c, None);
        let error =
            |text: &str| read_certificate(text.as_bytes(), "c.json", &f, None).unwrap_err().to_string();
        assert!(
            error("{\n \"schema\": 3}").starts_with("c.json:2: invalid type"),
            "{}",
            error("{\n \"schema\": 3}")
        );
        assert!(
            error(&text.replace("certificate/1", "certificate/9"))
                .contains("found \"netloom.certificate/9\"")
        );
        assert!(error(&text.replace("pigeonhole", "wish")).contains("found \"wish\""));
        assert!(error(&text.replace("0x0000000000000010", "0x00000000000000ff")).contains("no"));
        assert!(error(&text.replace("node3", "node2")).contains("is called \"node3\""));
        assert!(error(&text.replace("\"from_port\": 3", "\"from_port\": 40")).contains("port 40"));
        assert!(error(&text.replace("\"pigeonhole\"", "\"subset-sum\"")).contains("expected \"grid\""));
        let cold = write_certificate(&f, &certificates(&f)[1], None);
        assert!(error(&cold.replace("node1", "node7")).contains("is called \"node1\""));
        assert!(error(&cold.replace("\"port\": 1", "\"port\": 2")).contains("with port 2"));
        assert!(!text.contains("frozen") && cold.contains("\"frozen\""));
        assert!(error(&text.replace("\"claim\"", "\"clam\"")).contains("unknown field `clam`"));
        let hash = format!("{:016x}", f.cabling_hash());
        assert!(error(&text.replace(&hash, "0123456789abcdef")).contains("other cabling"));
        assert!(error(&text[..40]).contains("EOF"));
    }

    /// Ranks of both spines and leaves, with one spine moved.
    #[test]
    fn another_order_of_switches_is_refused() {
        let f = fabric();
        let c = &certificates(&f)[0];
        let ranks = |first: u16| -> Vec<Option<u16>> {
            (0..4).map(|s| if s == 0 { Some(first) } else { Some(u16::from(s == 1)) }).collect()
        };
        let (high, higher, low) = (ranks(3), ranks(7), ranks(0));
        let text = write_certificate(&f, c, Some(&high));
        let read = |text: &str, ranks| {
            read_certificate(text.as_bytes(), "c.json", &f, ranks).map_err(|error| error.to_string())
        };
        assert_eq!(read(&text, Some(&high)).as_ref(), Ok(c));
        assert_eq!(read(&text, Some(&higher)).as_ref(), Ok(c), "only directions count");
        let error = read(&text, Some(&low)).unwrap_err();
        assert!(error.contains("another order of switches"), "{error}");
        assert!(read(&text, None).unwrap_err().contains("expected no \"order\""));
        let plain = write_certificate(&f, c, None);
        assert!(!plain.contains("order"));
        assert!(read(&plain, Some(&high)).unwrap_err().contains("another order of switches"));
        let strange = text.replace("\"rank\": 3", "\"rank\": -1");
        assert!(read(&strange, Some(&high)).is_err());
    }

    proptest! {
        #[test]
        fn no_bytes_panic(flips in proptest::collection::vec((0usize..2000, any::<u8>()), 0..6), cut in 0usize..2000) {
            let f = fabric();
            for c in certificates(&f) {
                let mut bytes = write_certificate(&f, &c, None).into_bytes();
                for &(at, value) in &flips {
                    let n = bytes.len();
                    bytes[at % n] = value;
                }
                bytes.truncate(bytes.len().min(cut));
                let _ = read_certificate(&bytes, "c.json", &f, None);
            }
        }
    }
}
