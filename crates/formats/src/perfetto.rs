//! Timelines for <https://ui.perfetto.dev> and chrome://tracing, as JSON in Chrome's Trace Event Format.
//!
//! Grammar: `{"displayTimeUnit": "ns", "otherData": {…}, "traceEvents": [event, …]}`. A group of tracks is a process, a track a thread
//! with a number of its own; metadata events (`"ph": "M"`) name them and set their order, complete events (`"ph": "X"`) are the spans. `ts` and `dur` are in
//! microseconds; Perfetto keeps nanoseconds, and spans of a thread must not overlap, so both ends are rounded down to a nanosecond.
//! Details that are no finding of the format's are in `args`, the exact times in ps among them.
//!
//! Source: Trace Event Format (Google, 2016), and Perfetto's page on external formats.

use std::fmt::Write;

use netloom_model::Timeline;

/// Writes a timeline; only tracks with spans are named.
pub fn write_perfetto(timeline: &Timeline) -> String {
    let Timeline { groups, spans, notes } = timeline;
    let mut first = Vec::new();
    let mut tracks = 0;
    for group in groups {
        first.push(tracks);
        tracks += group.tracks.len();
    }
    let mut used = vec![false; tracks];
    for span in spans {
        used[first[span.group as usize] + span.track as usize] = true;
    }
    let mut text = String::from("{\"displayTimeUnit\":\"ns\",\"otherData\":{");
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    for (n, note) in notes.iter().enumerate() {
        let _ = write!(text, "{}\"note {}\":{}", if n == 0 { "" } else { "," }, n + 1, quoted(note));
    }
    text.push_str("},\"traceEvents\":[");
    let mut comma = "\n";
    let mut event = |text: &mut String, event: std::fmt::Arguments| {
        let _ = write!(text, "{comma}{event}");
        comma = ",\n";
    };
    for (g, group) in groups.iter().enumerate() {
        let pid = g + 1;
        let name = quoted(&group.name);
        event(
            &mut text,
            format_args!(r#"{{"ph":"M","name":"process_name","pid":{pid},"args":{{"name":{name}}}}}"#),
        );
        event(
            &mut text,
            format_args!(
                r#"{{"ph":"M","name":"process_sort_index","pid":{pid},"args":{{"sort_index":{g}}}}}"#
            ),
        );
        for (t, track) in group.tracks.iter().enumerate().filter(|&(t, _)| used[first[g] + t]) {
            let (tid, name) = (first[g] + t + 1, quoted(track));
            event(
                &mut text,
                format_args!(
                    r#"{{"ph":"M","name":"thread_name","pid":{pid},"tid":{tid},"args":{{"name":{name}}}}}"#
                ),
            );
            event(
                &mut text,
                format_args!(
                    r#"{{"ph":"M","name":"thread_sort_index","pid":{pid},"tid":{tid},"args":{{"sort_index":{t}}}}}"#
                ),
            );
        }
    }
    for span in spans {
        let (pid, tid) = (span.group + 1, first[span.group as usize] + span.track as usize + 1);
        let (start_ns, end_ns) = (span.start_ps / 1000, span.end_ps / 1000);
        let dur_ns = end_ns - start_ns;
        let mut args = format!("\"start_ps\":{},\"end_ps\":{}", span.start_ps, span.end_ps);
        for (name, value) in &span.details {
            let _ = write!(args, ",{}:{value}", quoted(name));
        }
        event(
            &mut text,
            format_args!(
                r#"{{"ph":"X","name":{},"pid":{pid},"tid":{tid},"ts":{}.{:03},"dur":{}.{:03},"args":{{{args}}}}}"#,
                quoted(&span.name),
                start_ns / 1000,
                start_ns % 1000,
                dur_ns / 1000,
                dur_ns % 1000,
            ),
        );
    }
    text.push_str("\n]}\n");
    text
}

#[cfg(test)]
mod tests {
    use netloom_model::{Span, TrackGroup};
    use serde_json::Value;

    use super::*;

    fn span(group: u32, track: u32, start_ps: u64, end_ps: u64) -> Span {
        Span { group, track, start_ps, end_ps, name: "a \"b\"".into(), details: vec![("bytes", 4096)] }
    }

    fn timeline() -> Timeline {
        let group = |name: &str, tracks: &[&str]| TrackGroup {
            name: name.into(),
            tracks: tracks.iter().map(|&t| t.into()).collect(),
        };
        Timeline {
            groups: vec![group("ranks", &["0", "1"]), group("links", &["a[1] -> b[2]", "silent"])],
            spans: vec![
                span(0, 1, 0, 500),
                span(1, 0, 1_000_600, 1_328_280),
                span(1, 0, 1_328_280, 1_655_960),
            ],
            notes: vec!["cut at 2 us".into()],
        }
    }

    /// What every reader of the format relies on, event by event.
    #[test]
    fn what_is_written_is_the_trace_event_format() {
        let json: Value = serde_json::from_str(&write_perfetto(&timeline())).unwrap();
        assert_eq!(json["displayTimeUnit"], "ns");
        assert_eq!(json["otherData"]["note 1"], "cut at 2 us");
        let events = json["traceEvents"].as_array().unwrap();
        let mut end_us = std::collections::BTreeMap::new();
        for event in events {
            assert!(event["pid"].as_u64().unwrap() > 0 && event["name"].is_string());
            match event["ph"].as_str().unwrap() {
                "M" => assert!(event["args"]["name"].is_string() || event["args"]["sort_index"].is_u64()),
                "X" => {
                    let (ts, dur) = (event["ts"].as_f64().unwrap(), event["dur"].as_f64().unwrap());
                    assert!(dur >= 0.0);
                    // Spans of a thread don't overlap, and a thread has one process.
                    let (pid, end) = end_us
                        .insert(event["tid"].as_u64(), (event["pid"].as_u64(), ts + dur))
                        .unwrap_or_default();
                    assert!(ts >= end - 1e-9 && (pid.is_none() || pid == event["pid"].as_u64()));
                }
                other => panic!("{other}"),
            }
        }
        let threads = events.iter().filter(|e| e["name"] == "thread_name").map(|e| &e["args"]["name"]);
        assert_eq!(threads.collect::<Vec<_>>(), ["1", "a[1] -> b[2]"]);
    }

    #[test]
    fn times_are_in_microseconds_rounded_down_to_nanoseconds() {
        let json: Value = serde_json::from_str(&write_perfetto(&timeline())).unwrap();
        let spans: Vec<&Value> =
            json["traceEvents"].as_array().unwrap().iter().filter(|e| e["ph"] == "X").collect();
        let times: Vec<_> =
            spans.iter().map(|e| (e["ts"].as_f64().unwrap(), e["dur"].as_f64().unwrap())).collect();
        assert_eq!(times, [(0.0, 0.0), (1.000, 0.328), (1.328, 0.327)]);
        assert_eq!(spans[1]["args"]["start_ps"], 1_000_600);
        assert_eq!(spans[1]["args"]["bytes"], 4096);
        assert_eq!(spans[1]["name"], "a \"b\"");
    }

    #[test]
    fn nothing_is_still_a_trace() {
        let json: Value = serde_json::from_str(&write_perfetto(&Timeline::default())).unwrap();
        assert!(json["traceEvents"].as_array().unwrap().is_empty());
    }
}
