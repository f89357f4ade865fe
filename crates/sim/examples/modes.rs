//! Modes 0 and 3 of Aries side by side: a ping-pong beside neighbours, within a group and between groups; docs/methods/noise.md has its numbers.
//!
//! `cargo run --release -p netloom-sim --example modes -- BYTES ROUND_TRIPS BIAS SEED …`

use std::sync::Mutex;

use netloom_model::rng::{below, shuffle, stream};
use netloom_model::{Control, Fabric, HostId};
use netloom_routing::Steering;
use netloom_sim::{
    Config, Job, Measure, Mode, Model, OpenLoop, PingPong, Profile, Scheme, Setup, SteerOptions, Steered,
    Uniform, simulate,
};
use netloom_topology::{detect, generate};

const FABRIC: &str = "dragonfly:p=2,a=8,h=4,g=9,links=4,speed=102.4G,local-speed=42G,global-speed=37.6G";
/// Hosts of a group.
const GROUP: u32 = 16;
/// Of a host's link.
const LOAD: f64 = 0.3;

fn main() {
    let arguments: Vec<u64> = std::env::args().skip(1).filter_map(|text| text.parse().ok()).collect();
    let [bytes, round_trips, bias, ref seeds @ ..] = arguments[..] else {
        eprintln!("expected BYTES ROUND_TRIPS BIAS SEED …");
        std::process::exit(2);
    };
    let fabric = generate(FABRIC).expect("a dragonfly");
    let steering = Steering::new(&fabric, &detect(&fabric)).expect("its groups are cliques");
    println!("seed  placement  mode  median (us)    QCD     s     L (cycles)  detours");
    let runs = seeds.iter().flat_map(|&seed| [false, true].map(|between| (seed, between)));
    let runs =
        runs.flat_map(|(seed, between)| [Mode::Unbiased, Mode::HighBias].map(|mode| (seed, between, mode)));
    let left = Mutex::new(runs.collect::<Vec<_>>().into_iter());
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from).min(2) {
            scope.spawn(|| {
                loop {
                    let next = left.lock().ok().and_then(|mut left| left.next());
                    let Some(run) = next else { return };
                    one(&fabric, &steering, (bytes, round_trips, bias as u32), run);
                }
            });
        }
    });
}

/// Two hosts on different switches of a group, or of two groups, drawn by seed; all others are neighbours.
fn one(
    fabric: &Fabric,
    steering: &Steering,
    (bytes, iterations, bias_bytes): (u64, u64, u32),
    (seed, between, mode): (u64, bool, Mode),
) {
    let mut random = stream(seed, 0);
    let hosts = fabric.host_count() as u32;
    let (a, b) = loop {
        let mut order: Vec<u32> = (0..hosts).collect();
        shuffle(&mut random, &mut order);
        let [a, b, ..] = order[..] else { unreachable!("there are hosts") };
        if a / 2 != b / 2 && (a / GROUP != b / GROUP) == between {
            break (a, b);
        }
    };
    let mut profile = Profile::aries();
    let delay = |link| match steering.is_global(link) {
        true => netloom_sim::ARIES_GLOBAL_CABLE_PS,
        false => profile.config.cable_delay_ps,
    };
    let delays = fabric.links().map(delay).collect();
    profile.config = Config {
        packet_bytes: 2048,
        header_bytes: 512,
        window_packets: Some(32),
        lanes: 8,
        cable_delays_ps: Some(delays),
        ..profile.config
    };
    let others: Vec<HostId> = fabric.hosts().filter(|host| host.0 != a && host.0 != b).collect();
    let every_ps = 2560.0 / (12.8e9 * LOAD) * 1e12;
    let window =
        OpenLoop { from_ps: 0, to_ps: 100_000_000_000, wire_bytes: 2560, capacity_bytes_per_s: 1e12 };
    let places = others.iter().map(|host| host.0).collect();
    let uniform =
        Uniform::new(places, vec![every_ps; others.len()], 2048, window, below(&mut random, u64::MAX));
    let ping_pong = PingPong { partner: vec![1, 0], bytes, iterations };
    let jobs = vec![
        Job::new("pingpong", vec![HostId(a), HostId(b)], ping_pong),
        Job { until: Some(0), ..Job::new("neighbours", others, uniform) },
    ];
    let options = SteerOptions { mode, bias_bytes, response_lanes: 3, ..SteerOptions::new(Steered::Aries) };
    let setup = Setup {
        fabric,
        scheme: Scheme::Steered(options, steering),
        model: Model::Packet,
        profile,
        jobs,
        seed,
        threads: 1,
        measure: Measure { messages: vec![0], ..Measure::default() },
        keep: None,
        skip_repeats: None,
        until_ps: None,
    };
    let outcome = simulate(setup, &Control::new()).expect("it runs");
    let adapters = outcome.adapters.as_ref().expect("packets are answered");
    let of = [a, b].map(|host| adapters[host as usize]);
    let sum = |get: &dyn Fn(usize) -> f64| get(0) + get(1);
    let flits = sum(&|i| of[i].flits as f64);
    let stall_ratio = sum(&|i| of[i].stalled_cycles()) / flits;
    let latency = sum(&|i| of[i].latency_cycles()) / sum(&|i| of[i].packets as f64);
    let rows = &outcome.recorded.messages.as_ref().expect("they were asked for").rows;
    let mut us: Vec<f64> = rows.iter().map(|row| row.latency_ps as f64 * 1e-6).collect();
    us.sort_by(f64::total_cmp);
    let quantile = |q: f64| {
        let at = q * (us.len() - 1) as f64;
        let (low, part) = (at as usize, at.fract());
        us[low] + part * (us[(low + 1).min(us.len() - 1)] - us[low])
    };
    let (q1, median, q3) = (quantile(0.25), quantile(0.5), quantile(0.75));
    println!(
        "{seed:>4}  {:<9}  {:>4}  {median:>11.1}  {:.4}  {stall_ratio:.3}  {latency:>11.0}  {:.4}",
        if between { "between" } else { "within" },
        mode.number(),
        (q3 - q1) / (q3 + q1),
        outcome.detours.unwrap_or(0) as f64 / (outcome.packets - outcome.responses) as f64,
    );
}
