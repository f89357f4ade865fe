//! Gap against time as a small SVG, both axes logarithmic: what the documentation shows of how the search goes.

use std::fmt::Write;

/// How one row improved.
pub struct Curve {
    /// Its name in the legend.
    pub name: String,
    /// `(seconds, gap)` of every improvement, in order.
    pub points: Vec<(f64, f64)>,
}

/// Where it goes, from the root of the repository.
const FILE: &str = "docs/images/optimizer-gap.svg";
/// The drawing and its margins, in pixels.
const SIZE: (f64, f64) = (720.0, 400.0);
const FRAME: (f64, f64, f64, f64) = (80.0, 16.0, 16.0, 44.0);
/// Seconds and gaps at the ends of the axes; smaller gaps are drawn at the foot.
const TIME: (f64, f64) = (1e-2, 10.0);
const GAP: (f64, f64) = (1e-6, 1.0);
/// Colours that colour-blind readers can tell apart (Okabe and Ito).
const COLOURS: [&str; 6] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"];

/// Draws all curves into the documentation.
pub fn draw(curves: &[Curve]) {
    let path = format!("{}/../{FILE}", env!("CARGO_MANIFEST_DIR"));
    std::fs::write(&path, svg(curves)).unwrap_or_else(|error| panic!("{path}: {error}"));
}

fn svg(curves: &[Curve]) -> String {
    let (width, height) = SIZE;
    let (left, right, top, bottom) = (FRAME.0, width - FRAME.1, FRAME.2, height - FRAME.3);
    let share =
        |value: f64, ends: (f64, f64)| (value.clamp(ends.0, ends.1) / ends.0).ln() / (ends.1 / ends.0).ln();
    let x = |seconds: f64| left + (right - left) * share(seconds, TIME);
    let y = |gap: f64| bottom - (bottom - top) * share(gap, GAP);
    let mut s = String::new();
    let mut line = |text: String| writeln!(s, "{text}").expect("strings take everything");
    line(format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12" fill="#444">"##
    ));
    line(r##"<title>Gap to the proven bound against time</title>"##.into());
    line(format!(r##"<rect width="{width}" height="{height}" fill="#fff"/>"##));
    for (gap, label) in [
        (1.0, "100 %"),
        (1e-1, "10 %"),
        (1e-2, "1 %"),
        (1e-3, "0.1 %"),
        (1e-4, "0.01 %"),
        (1e-5, "0.001 %"),
        (1e-6, "≤ 0.0001 %"),
    ] {
        line(format!(r##"<path d="M{left} {0:.1}H{right}" stroke="#ddd"/>"##, y(gap)));
        line(format!(
            r##"<text x="{:.1}" y="{:.1}" text-anchor="end">{label}</text>"##,
            left - 6.0,
            y(gap) + 4.0
        ));
    }
    for (seconds, label) in [(1e-2, "10 ms"), (1e-1, "0.1 s"), (1.0, "1 s"), (10.0, "10 s")] {
        line(format!(r##"<path d="M{0:.1} {top}V{bottom}" stroke="#ddd"/>"##, x(seconds)));
        line(format!(
            r##"<text x="{:.1}" y="{:.1}" text-anchor="middle">{label}</text>"##,
            x(seconds),
            bottom + 16.0
        ));
    }
    line(format!(
        r##"<text x="{:.1}" y="{:.1}" text-anchor="middle">time (one thread; bounds included)</text>"##,
        (left + right) / 2.0,
        height - 8.0
    ));
    for (number, curve) in curves.iter().enumerate() {
        let colour = COLOURS[number % COLOURS.len()];
        let mut steps = String::new();
        for (k, &(seconds, gap)) in curve.points.iter().enumerate() {
            let (px, py) = (x(seconds), y(gap));
            let _ =
                if k == 0 { write!(steps, "M{px:.1} {py:.1}") } else { write!(steps, "H{px:.1}V{py:.1}") };
        }
        let at_foot = curve.points.last().is_none_or(|p| p.1 <= GAP.0);
        if !at_foot {
            let _ = write!(steps, "H{right:.1}");
        }
        line(format!(r##"<path d="{steps}" fill="none" stroke="{colour}" stroke-width="2"/>"##));
        if let Some(&(seconds, gap)) = curve.points.last() {
            line(format!(r##"<circle cx="{:.1}" cy="{:.1}" r="3.5" fill="{colour}"/>"##, x(seconds), y(gap)));
        }
        let at = top + 16.0 + 18.0 * number as f64;
        line(format!(r##"<path d="M{:.1} {at}h20" stroke="{colour}" stroke-width="2"/>"##, right - 170.0));
        line(format!(r##"<text x="{:.1}" y="{:.1}">{}</text>"##, right - 144.0, at + 4.0, curve.name));
    }
    line("</svg>".into());
    s
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_goes_right_then_down() {
        let curve = Curve { name: "a".into(), points: vec![(0.01, 1.0), (1.0, 1e-3), (10.0, 0.0)] };
        // The frame is 624 x 340: a decade of time is 208, a decade of gap 340 / 6.
        assert!(svg(&[curve]).contains(r#"d="M80.0 16.0H496.0V186.0H704.0V356.0""#));
    }
}
