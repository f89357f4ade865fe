//! Table 5.1: the two halves of quartz1 exchange five messages of 2 MiB each, awaited one by one.
//!
//! Source: Taffet, dissertation, sec. 5.2. Its shuffle is another one than any of ours, so what is judged is the law: the
//! worst link's flows take 0.839 ms each.

use netloom_model::Csr;
use netloom_sim::Stream;

use super::field::{Field, LIMIT, Way, median, ms, off, spread};
use crate::inputs::pattern;
use crate::race::abreast;
use crate::study::{Claim, Section, Study, abreast as cores, heads};

const MESSAGES: u64 = 5;
const BYTES: u64 = 2 << 20;
/// Five messages of 2 MiB at 12.5 GB/s.
const FLOW_MS: f64 = 5.0 * 2_097_152.0 / 12.5e9 * 1e3;
/// Shuffles under ftree; a few of them under adaptive and optimised routes, which vary little.
const SHUFFLES: u64 = 20;
const FEW: u64 = 3;

fn stream(matrix: &Csr) -> Stream {
    let to: Vec<u32> = (0..matrix.size()).map(|h| matrix.row(h).0[0]).collect();
    Stream::of(&to, MESSAGES, BYTES)
}

/// Shift and shuffle.
pub fn run(_: &mut Study) -> Section {
    let field = Field::new();
    let matrix = |spec: &str| pattern(spec, &field.ground.fabric).total().into_owned();
    let mut table = vec![heads(&[
        "pattern",
        "routing",
        "ms",
        "dissertation",
        "off",
        "packet latency mean / max, us",
        "dissertation",
        "fluid, ms",
    ])];
    let mut claims = Vec::new();
    let mut line = |pattern: &str,
                    routing: &str,
                    values: &[f64],
                    paper: f64,
                    latency: String,
                    theirs: &str,
                    fluid: &[f64]| {
        let mut cells = vec![pattern.into(), routing.into(), spread(values), format!("{paper:.3}")];
        cells.extend([off(median(values), paper), latency, theirs.into(), spread(fluid)]);
        eprintln!("  {}", cells.join(" | "));
        table.push(cells);
    };
    let mut claim = |what: &str, asked: String, measured: String, kept: bool| {
        claims.push(Claim { what: what.into(), asked, measured, kept });
    };

    let shift = matrix("bisection");
    let optimised = field.ground.optimize(&shift, LIMIT).found.outcome.routes;
    let ways: [(&str, Way, f64, f64, [f64; 2]); 3] = [
        ("ftree", field.ftree(), 1.688, 0.05, [16.94, 18.92]),
        ("adaptive", Way::Adaptive, 1.750, 0.08, [23.81, 68.89]),
        ("optimised", Way::Tables(&optimised), 1.691, 0.05, [17.15, 20.88]),
    ];
    for (name, way, paper, tolerance, theirs) in ways {
        // Only adaptive switches draw; 0 is the shipped scenario's seed.
        let seeds: Vec<u64> = (0..if matches!(way, Way::Adaptive) { FEW } else { 1 }).collect();
        let runs = abreast(cores(), &seeds, |&seed| field.packets(way, field.alone(stream(&shift)), seed));
        let fluid: Vec<f64> = field.fluid(way, field.alone(stream(&shift))).into_iter().collect();
        let times: Vec<f64> = runs.iter().map(ms).collect();
        let mean = median(&runs.iter().map(|r| r.packet_latency.mean_ps / 1e6).collect::<Vec<_>>());
        let most = median(&runs.iter().map(|r| r.packet_latency.max_ps as f64 / 1e6).collect::<Vec<_>>());
        let [their_mean, their_most] = theirs;
        let (ours, theirs) = (format!("{mean:.2} / {most:.2}"), format!("{their_mean} / {their_most}"));
        line("shift", name, &times, paper, ours, &theirs, &fluid);
        near(&mut claim, &format!("shift, {name}, ms"), median(&times), paper, tolerance);
        near(&mut claim, &format!("shift, {name}, mean packet latency, us"), mean, their_mean, 0.2);
        near(&mut claim, &format!("shift, {name}, largest packet latency, us"), most, their_most, 0.2);
    }

    let seeds: Vec<u64> = (1..=SHUFFLES).collect();
    let shuffles = abreast(cores(), &seeds, |seed| {
        let shuffle = matrix(&format!("bisection-shuffle:seed={seed}"));
        let flows = field.ground.max(&field.ground.background, &shuffle).expect("delivered");
        let outcome = field.packets(field.ftree(), field.alone(stream(&shuffle)), 1);
        let fluid = field.fluid(field.ftree(), field.alone(stream(&shuffle)));
        eprintln!("  seed {seed}: {flows} flows, {:.3} ms", ms(&outcome));
        (flows, ms(&outcome), outcome.packet_latency, fluid)
    });
    let times: Vec<f64> = shuffles.iter().map(|s| s.1).collect();
    let ratios: Vec<f64> = shuffles.iter().map(|s| s.1 / (s.0 * FLOW_MS)).collect();
    let mean: Vec<f64> = shuffles.iter().map(|s| s.2.mean_ps / 1e6).collect();
    let most: Vec<f64> = shuffles.iter().map(|s| s.2.max_ps as f64 / 1e6).collect();
    let fluid: Vec<f64> = shuffles.iter().filter_map(|s| s.3).collect();
    line(
        "shuffle",
        "ftree",
        &times,
        6.715,
        format!("{:.2} / {:.2}", median(&mean), median(&most)),
        "28.12 / 78.61",
        &fluid,
    );
    let (low, high) = bounds(&ratios);
    claim(
        "shuffle, ftree, time over worst flows x 0.839 ms",
        "1 to 1.15".into(),
        spread(&ratios),
        low >= 1.0 && high <= 1.15,
    );
    claim(
        "the same, median",
        "within 5 %".into(),
        format!("{:.3}", median(&ratios)),
        median(&ratios) <= 1.05,
    );
    let (low, high) = bounds(&times);
    claim(
        "shuffle, ftree, ms",
        "6.715 inside the spread".into(),
        spread(&times),
        low <= 6.715 && high >= 6.715,
    );

    let seeds: Vec<u64> = (1..=FEW).collect();
    let few = |optimise: bool| {
        abreast(cores(), &seeds, |seed| {
            let shuffle = matrix(&format!("bisection-shuffle:seed={seed}"));
            let routes = optimise.then(|| field.ground.optimize(&shuffle, LIMIT).found.outcome.routes);
            let way = routes.as_ref().map_or(Way::Adaptive, Way::Tables);
            let outcome = field.packets(way, field.alone(stream(&shuffle)), *seed);
            (ms(&outcome), outcome.packet_latency, field.fluid(way, field.alone(stream(&shuffle))))
        })
    };
    for (name, optimise, paper, theirs) in
        [("adaptive", false, 1.871, [27.65, 117.60]), ("optimised", true, 1.691, [17.15, 20.88])]
    {
        let runs = few(optimise);
        let times: Vec<f64> = runs.iter().map(|r| r.0).collect();
        let fluid: Vec<f64> = runs.iter().filter_map(|r| r.2).collect();
        let mean = median(&runs.iter().map(|r| r.1.mean_ps / 1e6).collect::<Vec<_>>());
        let most = median(&runs.iter().map(|r| r.1.max_ps as f64 / 1e6).collect::<Vec<_>>());
        let [their_mean, their_most] = theirs;
        line(
            "shuffle",
            name,
            &times,
            paper,
            format!("{mean:.2} / {most:.2}"),
            &format!("{their_mean} / {their_most}"),
            &fluid,
        );
        near(&mut claim, &format!("shuffle, {name}, mean packet latency, us"), mean, their_mean, 0.2);
        near(&mut claim, &format!("shuffle, {name}, largest packet latency, us"), most, their_most, 0.2);
        let (_, high) = bounds(&times);
        if optimise {
            claim("shuffle, optimised, ms", "at most 1.70".into(), spread(&times), high <= 1.7);
        } else {
            near(&mut claim, "shuffle, adaptive, ms", median(&times), paper, 0.08);
        }
    }
    Section {
        title: "Bisection patterns (table 5.1)".into(),
        text: format!(
            "ftree on {SHUFFLES} shuffles (seeds from 1 on), adaptive and optimised routes on the first {FEW} of them, adaptive \
             switches with the same seed; on the shift theirs are 0 to {}, as a scenario's `seed`: median (least to most). A flow's \
             five messages take {FLOW_MS:.3} ms alone; the worst links carry {} flows.",
            FEW - 1,
            spread(&shuffles.iter().map(|s| s.0).collect::<Vec<_>>())
        ),
        tables: vec![table],
        claims,
    }
}

fn near(
    claim: &mut impl FnMut(&str, String, String, bool),
    what: &str,
    value: f64,
    paper: f64,
    tolerance: f64,
) {
    let asked = format!("{paper} within {:.0} %", tolerance * 100.0);
    claim(
        what,
        asked,
        format!("{value:.3} ({})", off(value, paper)),
        (value / paper - 1.0).abs() <= tolerance,
    );
}

fn bounds(values: &[f64]) -> (f64, f64) {
    values.iter().fold((f64::INFINITY, 0.0), |(low, high), &v| (low.min(v), high.max(v)))
}
