//! Inputs that several families share: all ship with the repository.

use netloom_formats::{read_fabric, read_mtx};
use netloom_model::{Fabric, Traffic};
use netloom_topology::{Structure, detect, generate};

/// The spec of a tree with 40,960 hosts, which still fits InfiniBand's LIDs.
pub const HOSTS_40960: &str = "fattree:pods=40,leaves=32,hosts=32,spines=16,groups=16,cores=32";
/// The spec of a tree with 65,536 hosts.
pub const HOSTS_65536: &str = "fattree:pods=64,leaves=32,hosts=32,spines=32,groups=32,cores=32";

/// A file of the repository.
pub fn file(path: &str) -> Vec<u8> {
    let full = format!("{}/../{path}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read(&full).unwrap_or_else(|error| panic!("{full}: {error}"))
}

/// The dump of quartz1 as `ibnetdiscover` printed it, gzip.
pub fn quartz1_dump() -> Vec<u8> {
    file("tests/data/opensm/quartz1/ibnetdiscover.txt.gz")
}

/// quartz1, from its dump.
pub fn quartz1() -> (Fabric, Structure) {
    let fabric = read_fabric(&quartz1_dump(), "quartz1", None).expect("the dump is a fabric").fabric;
    let structure = detect(&fabric);
    (fabric, structure)
}

/// A generated fabric.
pub fn generated(spec: &str) -> (Fabric, Structure) {
    let fabric = generate(spec).expect("a known spec");
    let structure = detect(&fabric);
    (fabric, structure)
}

/// A pattern over all hosts of `fabric`.
pub fn pattern(spec: &str, fabric: &Fabric) -> Traffic {
    netloom_traffic::pattern(spec, Some(fabric.host_count() as u32)).expect("a known spec")
}

/// A rank matrix of an application, as a jobs file of the examples names it.
pub fn application(path: &str) -> Traffic {
    read_mtx(&file(&format!("examples/jobs/{path}")), path).expect("the example is a matrix")
}
