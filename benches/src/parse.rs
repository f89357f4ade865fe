//! Dumps to fabrics, against undoing gzip alone.

use netloom_formats::{decompress, read_fabric, write_ibnetdiscover};
use netloom_topology::generate;

use crate::Options;
use crate::inputs::{HOSTS_40960, quartz1_dump};
use crate::table::{Table, median_seconds};

/// quartz1's dump, and a large one.
pub fn run(table: &mut Table, _: &Options) {
    let dump = quartz1_dump();
    let parse = median_seconds(9, || read_fabric(&dump, "quartz1", None).expect("a fabric"));
    let gunzip = median_seconds(9, || decompress(&dump, "quartz1").expect("gzip").into_owned());
    table.seconds("parse the quartz1 dump (3072 hosts, gz)", parse, 0.15, Some(("gunzip alone", gunzip)));

    let fabric = generate(HOSTS_40960).expect("a known spec");
    let text = write_ibnetdiscover(&fabric).expect("fits InfiniBand's LIDs").into_bytes();
    let parse = median_seconds(3, || read_fabric(&text, "large", None).expect("a fabric"));
    let lines = median_seconds(3, || text.split(|b| *b == b'\n').map(<[u8]>::len).max());
    let what = format!("parse a 40,960-host dump ({} MB)", text.len() >> 20);
    table.seconds(what, parse, 3.0, Some(("splitting lines", lines)));
}
