//! Offered load of a scenario: how often a rank sends so that its host's link is loaded as asked, and what is measured when.
//!
//! Invariant: `load` is bytes on the wire, headers included, over what the link of the sender's host carries; ranks of one host share it.

use netloom_formats::scenario::Measured;
use netloom_model::rng::below;
use netloom_sim::{OpenLoop, Uniform};
use netloom_topology::detect;
use netloom_traffic::{pattern as make, pattern_in_groups, wants_group};

use crate::ComposeError;
use crate::asked::Place;

/// Longest mean time between the messages of a rank, ps.
const LONGEST_PAUSE_PS: f64 = 1e13;
/// Messages of all ranks, at most: drawn before the run, within seconds.
const MOST_ARRIVALS: f64 = 1e8;
/// The warm-up, unless given: this part of the window.
const WARMUP: u64 = 4;
/// Latest end of a window, ps: the end of simulated time.
const LATEST_PS: u64 = 281_000_000_000_000;

/// A job's offered load.
///
/// # Errors
/// [`ComposeError`] where all ranks are on one host, or for loads and windows that no run could show.
pub(crate) fn offered(
    place: Place,
    bytes: u64,
    load: f64,
    measured: Measured,
    warmup_ps: Option<u64>,
    pattern: Option<&str>,
) -> Result<Uniform, ComposeError> {
    let hosts: Vec<u32> = place.host_of_rank.iter().map(|host| host.0).collect();
    if hosts.iter().all(|&host| host == hosts[0]) {
        return Err(place.refuse("kind", &"expected ranks on at least 2 hosts"));
    }
    let receivers = pattern.map(|spec| receivers(place, spec)).transpose()?;
    let config = place.config;
    let packets = bytes.max(1).div_ceil(config.packet_bytes.into());
    let wire_bytes = bytes.max(1) + packets * u64::from(config.header_bytes);
    let mut ranks_on = vec![0u32; place.fabric.host_count()];
    place.host_of_rank.iter().for_each(|host| ranks_on[host.index()] += 1);
    let bandwidth = |host| place.fabric.bandwidth_bytes_per_s(place.fabric.host_link(host));
    // Of a host's link, one message after another.
    let host_every_ps = |host| wire_bytes as f64 / (bandwidth(host) * load) * 1e12;
    let every_ps: Vec<f64> =
        place.host_of_rank.iter().map(|&h| host_every_ps(h) * f64::from(ranks_on[h.index()])).collect();
    let longest_ps = every_ps.iter().copied().fold(0.0, f64::max);
    if longest_ps > LONGEST_PAUSE_PS {
        let s = longest_ps * 1e-12;
        let message = format!("load {load}: a message every {s:.3e} s: expected every 10 s or more often");
        return Err(place.refuse("load", &message));
    }
    let used = || place.fabric.hosts().filter(|host| ranks_on[host.index()] > 0);
    let (key, measure_ps) = match measured {
        Measured::For(ps) => ("measure_us", ps),
        Measured::Messages(messages) => {
            let slowest_ps = used().map(host_every_ps).fold(0.0, f64::max);
            ("messages", (messages as f64 * slowest_ps).ceil() as u64)
        }
    };
    let from_ps = warmup_ps.unwrap_or(measure_ps / WARMUP);
    let end_ps = measure_ps.saturating_add(from_ps.saturating_mul(2));
    if end_ps > LATEST_PS {
        let message =
            format!("load {load}: offered for {:.3e} s: expected at most 281 s", end_ps as f64 * 1e-12);
        return Err(place.refuse(key, &message));
    }
    let messages: f64 = every_ps.iter().map(|every| end_ps as f64 / every).sum();
    if messages > MOST_ARRIVALS {
        let message = format!("{messages:.3e} messages in all: expected at most {MOST_ARRIVALS:.0e}");
        return Err(place.refuse(key, &message));
    }
    let window = OpenLoop {
        from_ps,
        to_ps: from_ps + measure_ps,
        wire_bytes,
        capacity_bytes_per_s: used().map(bandwidth).sum(),
    };
    let uniform = Uniform::new(hosts, every_ps, bytes, window, below(&mut place.random(), u64::MAX));
    Ok(match receivers {
        Some(receivers) => uniform.with_receivers(receivers),
        None => uniform,
    })
}

/// The ranks that each rank may send to, by a traffic pattern; `adversarial` takes the groups of a dragonfly from the fabric.
fn receivers(place: Place, spec: &str) -> Result<Vec<Vec<u32>>, ComposeError> {
    let asked = spec;
    let spec = place.seeded(spec);
    let made = if wants_group(&spec) {
        let Some(of) = detect(place.fabric).shape.groups().map(|groups| groups.of_hosts(place.fabric)) else {
            let message = format!("pattern \"{asked}\": expected a dragonfly, or group=N");
            return Err(place.refuse("pattern", &message));
        };
        let of_ranks: Vec<u32> = place.host_of_rank.iter().map(|host| of[host.index()]).collect();
        pattern_in_groups(&spec, &of_ranks)
    } else {
        make(&spec, Some(place.ranks))
    };
    let traffic = made.map_err(|error| place.asked.pattern(&error))?;
    let mut receivers = vec![Vec::new(); place.ranks as usize];
    for (from, to, _) in traffic.total().iter() {
        if place.host_of_rank[from as usize] != place.host_of_rank[to as usize] {
            receivers[from as usize].push(to);
        }
    }
    if let Some(rank) = receivers.iter().position(Vec::is_empty) {
        let message = format!(
            "pattern \"{asked}\": rank {rank} sends to no other host: expected receivers of every rank"
        );
        return Err(place.refuse("pattern", &message));
    }
    Ok(receivers)
}
