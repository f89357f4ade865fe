//! The counters that traffic would leave under given routes.
//!
//! Every pair's bytes and packets are added to the links of its way, on the lane that its packets have there; both ends of a link count
//! the same. What a real reading adds can be added: noise, readings at different times, values that are missing.
//!
//! Invariants: sums are taken in fixed pieces added up in a fixed order, every random number is drawn for its own counter or port, so the
//! result does not depend on the number of threads.

use netloom_model::rng::{normal, stream, unit};
use netloom_model::{Column, Csr, Fabric, HostId, Interval, LinkId, Quality, Quantity, Routes};
use netloom_routing::{RoutingError, Walker};
use rayon::prelude::*;

use crate::lanes::LaneScheme;

/// Pieces that the senders are cut into: each has its own sums.
const PIECES: usize = 16;

/// How perfect the counters are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SynthOptions {
    /// Every pair's bytes and packets are this many times what the traffic says: patterns have a byte a pair.
    pub scale: f64,
    /// Largest payload of a packet: traffic without packets has bytes over this.
    pub mtu_bytes: f64,
    /// Length of the interval, ns.
    pub span_ns: u64,
    /// Relative standard deviation of every value.
    pub noise: f64,
    /// Each of a port's two readings is late by up to this part of the interval (uniform); traffic flows evenly.
    pub skew: f64,
    /// This part of the values is missing.
    pub missing: f64,
    /// Of everything random.
    pub seed: u64,
}

impl Default for SynthOptions {
    /// Exact counters of one second.
    fn default() -> Self {
        Self {
            scale: 1.0,
            mtu_bytes: 4096.0,
            span_ns: 1_000_000_000,
            noise: 0.0,
            skew: 0.0,
            missing: 0.0,
            seed: 0,
        }
    }
}

/// The counters of all ports after `traffic`, on whole links and, with a `scheme`, on every lane too.
///
/// # Errors
/// [`RoutingError`] if routes or traffic are not of this fabric's size, or packets of a pair do not arrive.
pub fn synth(
    fabric: &Fabric,
    routes: &Routes,
    traffic: &Csr,
    scheme: Option<&LaneScheme>,
    options: &SynthOptions,
) -> Result<Interval, RoutingError> {
    if traffic.size() != fabric.host_count() {
        let (found, hosts) = (traffic.size(), fabric.host_count());
        return Err(RoutingError::Mismatch(format!(
            "the traffic has {found} endpoints, the fabric {hosts} hosts"
        )));
    }
    let walker = Walker::new(fabric, routes)?;
    let width = scheme.map_or(1, |scheme| usize::from(scheme.lanes()).max(1));
    let cells = fabric.link_count() * width;
    let mut sums = vec![Amount::default(); cells];
    let sources: Vec<u32> = (0..traffic.size() as u32).collect();
    let pieces: Vec<&[u32]> = sources.chunks(sources.len().div_ceil(PIECES).max(1)).collect();
    for pieces in pieces.chunks(rayon::current_num_threads()) {
        let add_up = |sources: &&[u32]| {
            let mut part = vec![Amount::default(); cells];
            for &source in *sources {
                add_row(&walker, traffic, scheme, width, options, source, &mut part)?;
            }
            Ok(part)
        };
        let parts: Vec<Result<Vec<Amount>, RoutingError>> = pieces.par_iter().map(add_up).collect();
        for part in parts {
            for (sum, more) in sums.iter_mut().zip(part?) {
                sum.bytes += more.bytes;
                sum.packets += more.packets;
            }
        }
    }
    let whole = sums.chunks(width).map(|lanes| {
        let add = |a: Amount, b: &Amount| Amount { bytes: a.bytes + b.bytes, packets: a.packets + b.packets };
        lanes.iter().fold(Amount::default(), add)
    });
    let mut columns = Vec::new();
    counted(fabric, None, &whole.collect::<Vec<_>>(), options, &mut columns);
    for lane in 0..if scheme.is_some() { width } else { 0 } {
        let of_lane: Vec<Amount> = sums.iter().skip(lane).step_by(width).copied().collect();
        counted(fabric, Some(lane as u8), &of_lane, options, &mut columns);
    }
    Ok(Interval { start_ns: 0, end_ns: options.span_ns, routes: 0, columns })
}

#[derive(Clone, Copy, Default)]
struct Amount {
    bytes: f64,
    packets: f64,
}

fn add_row(
    walker: &Walker,
    traffic: &Csr,
    scheme: Option<&LaneScheme>,
    width: usize,
    options: &SynthOptions,
    source: u32,
    sums: &mut [Amount],
) -> Result<(), RoutingError> {
    let (columns, bytes) = traffic.row(source as usize);
    let first = traffic.offsets()[source as usize] as usize;
    let (mut way, mut lanes) = (Vec::new(), Vec::new());
    for (at, (&destination, &bytes)) in columns.iter().zip(bytes).enumerate() {
        let packets = traffic.packets().map_or(bytes / options.mtu_bytes, |packets| packets[first + at]);
        let (from, to) = (HostId(source), HostId(destination));
        way.clear();
        walker.visit(from, to, |link| way.push(link))?;
        match scheme {
            Some(scheme) => scheme.on_way(walker, (from, to), &way, &mut lanes)?,
            None => {
                lanes.clear();
                lanes.resize(way.len(), 0);
            }
        }
        for (link, &lane) in way.iter().zip(&lanes) {
            let sum = &mut sums[link.index() * width + usize::from(lane)];
            sum.bytes += options.scale * bytes;
            sum.packets += options.scale * packets;
        }
    }
    Ok(())
}

/// The four columns of a lane, as its ports would show them.
fn counted(
    fabric: &Fabric,
    lane: Option<u8>,
    sums: &[Amount],
    options: &SynthOptions,
    columns: &mut Vec<Column>,
) {
    let quantities = [Quantity::XmitBytes, Quantity::RcvBytes, Quantity::XmitPackets, Quantity::RcvPackets];
    for (kind, quantity) in quantities.into_iter().enumerate() {
        let of_bytes = matches!(quantity, Quantity::XmitBytes | Quantity::RcvBytes);
        let mut column = Column::good(quantity, lane, vec![0; sums.len()]);
        let mut missing = Vec::new();
        for link in fabric.links() {
            let sum = &sums[link.index()];
            let exact = if of_bytes { sum.bytes } else { sum.packets };
            // A stream for every counter; lanes come after the whole link.
            let counter =
                (u64::from(link.0) << 16) | (lane.map_or(0, |lane| u64::from(lane) + 1) << 8) | kind as u64;
            let mut draw = stream(options.seed, counter);
            let factor = 1.0 + options.noise * normal(&mut draw) + late(fabric, link, quantity, options);
            if unit(&mut draw) < options.missing {
                missing.push(link);
                continue;
            }
            column.values[link.index()] = (exact * factor).max(0.0).round() as u64;
        }
        if !missing.is_empty() {
            column.quality = vec![Quality::GOOD; sums.len()];
            missing.iter().for_each(|link| column.quality[link.index()] = Quality::MISSING);
        }
        columns.push(column);
    }
}

/// By which part its interval is longer than the others' because the port was read late.
fn late(fabric: &Fabric, link: LinkId, quantity: Quantity, options: &SynthOptions) -> f64 {
    if options.skew == 0.0 {
        return 0.0;
    }
    let port = if quantity.is_at_far_end() { fabric.reverse(link) } else { link };
    let mut draw = stream(options.seed.wrapping_add(0x2545_f491_4f6c_dd1d), port.0.into());
    let (start, end) = (unit(&mut draw), unit(&mut draw));
    (end - start) * options.skew
}
