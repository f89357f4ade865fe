//! A window of time to look into: what ranks did, and the packets on every link.
//!
//! Bounded: a window keeps the first so many spans of packets and of ranks, and tells when it was cut.

use netloom_model::{Fabric, LinkId, Span, Timeline, TrackGroup};

use crate::observe::{Departure, Hop, Observer};
use crate::replay::RankSpan;

/// Spans of packets, and of ranks, that a window keeps.
pub(crate) const MOST_SPANS: usize = 250_000;

/// Packets on links from one time to another, as they are seen.
#[derive(Clone, Debug)]
pub(crate) struct Window {
    from_ps: u64,
    to_ps: u64,
    /// By packet: when it was queued last, and whether its output was congested.
    queued: Vec<(u64, bool)>,
    spans: Vec<PacketSpan>,
    /// From here on nothing more was kept.
    cut_ps: Option<u64>,
}

#[derive(Clone, Copy, Debug)]
struct PacketSpan {
    queued_ps: u64,
    congested: bool,
    departure: Departure,
}

impl Window {
    /// What happens from `from_ps` and before `to_ps`.
    pub fn new(from_ps: u64, to_ps: u64) -> Self {
        Self { from_ps, to_ps, queued: Vec::new(), spans: Vec::new(), cut_ps: None }
    }

    /// Together with what the ranks of jobs of these names did.
    pub fn timeline(mut self, fabric: &Fabric, jobs: &[(String, usize)], ranks: RankWindow) -> Timeline {
        let mut groups = Vec::new();
        // A rank's further processors have tracks of their own behind all ranks.
        let mut further: Vec<(u32, u32, u32)> = ranks.spans.iter().map(RankSpan::processor).collect();
        further.retain(|&(.., processor)| processor > 0);
        further.sort_unstable();
        further.dedup();
        let of_job = |job: u32| {
            let first = further.partition_point(|&(of, ..)| of < job);
            &further[first..further.partition_point(|&(of, ..)| of <= job)]
        };
        for (j, (name, count)) in jobs.iter().enumerate() {
            let ranks = (0..*count).map(|rank| format!("rank {rank}"));
            let more =
                of_job(j as u32).iter().map(|(_, rank, p)| format!("rank {rank}, processor {}", p + 1));
            groups.push(TrackGroup { name: format!("ranks of {name}"), tracks: ranks.chain(more).collect() });
        }
        let track = |span: &RankSpan| match of_job(span.job).binary_search(&span.processor()) {
            Ok(at) => (jobs[span.job as usize].1 + at) as u32,
            Err(_) => span.rank,
        };
        let tracks = fabric.links().map(|link| fabric.describe_link(link)).collect();
        groups.push(TrackGroup { name: "links".into(), tracks });
        let (mut spans, links) = (Vec::new(), jobs.len() as u32);
        let mut of_ranks = ranks.spans;
        of_ranks.sort_by_key(|span| (span.job, track(span), span.start_ps));
        for span in of_ranks {
            let track = track(&span);
            let RankSpan { job, start_ps, end_ps, what, peer, .. } = span;
            let name = peer.map_or_else(|| what.into(), |peer| format!("{what} {peer}"));
            spans.push(Span { group: job, track, start_ps, end_ps, name, details: Vec::new() });
        }
        self.spans.sort_by_key(|span| (span.departure.link, span.departure.start_ps));
        spans.extend(self.spans.iter().map(|span| span.span(links, jobs)));
        let mut notes = Vec::new();
        for (what, cut_ps) in [("packets", self.cut_ps), ("ranks", ranks.cut_ps)] {
            if let Some(ps) = cut_ps {
                let us = ps as f64 / 1e6;
                notes.push(format!("{what} are complete to {us:.3} us only: {MOST_SPANS} spans are kept"));
            }
        }
        Timeline { groups, spans, notes }
    }
}

/// What ranks did in the window.
#[derive(Clone, Debug, Default)]
pub(crate) struct RankWindow {
    pub spans: Vec<RankSpan>,
    /// From here on nothing more was kept.
    pub cut_ps: Option<u64>,
}

impl PacketSpan {
    fn span(&self, group: u32, jobs: &[(String, usize)]) -> Span {
        let Departure { start_ps, end_ps, link: LinkId(track), packet } = self.departure;
        let context = packet.context;
        let job = jobs.get(context.job as usize).map_or("", |(name, _)| name);
        let name = format!("{job} {} to {}", context.from, context.to);
        let details = vec![
            ("bytes", u64::from(packet.bytes)),
            ("lane", u64::from(packet.lane)),
            ("tag", u64::from(context.tag)),
            ("message", u64::from(packet.message)),
            ("waited_ps", start_ps - self.queued_ps),
            ("congested", u64::from(self.congested)),
        ];
        Span { group, track, start_ps, end_ps, name, details }
    }
}

impl Observer for Window {
    fn hop(&mut self, hop: Hop) {
        let at = hop.packet.packet as usize;
        if at >= self.queued.len() {
            self.queued.resize(at + 1, (0, false));
        }
        self.queued[at] = (hop.now_ps, hop.congested);
    }

    fn departs(&mut self, departure: Departure) {
        let Departure { start_ps, end_ps, packet, .. } = departure;
        // A host's packet is made when it leaves.
        let queued = self.queued.get_mut(packet.packet as usize);
        let (queued_ps, congested) =
            queued.map(|queued| std::mem::replace(queued, (u64::MAX, false))).unwrap_or((u64::MAX, false));
        if start_ps >= self.to_ps || end_ps <= self.from_ps || self.cut_ps.is_some() {
            return;
        }
        if self.spans.len() == MOST_SPANS {
            self.cut_ps = Some(start_ps);
            return;
        }
        self.spans.push(PacketSpan { queued_ps: queued_ps.min(start_ps), congested, departure });
    }
}
