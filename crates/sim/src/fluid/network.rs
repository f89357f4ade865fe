//! What a network of flows is made of: hosts, messages, streams, and what is known of them.

use std::collections::{HashMap, VecDeque};

use netloom_model::{DestId, Fabric, HostId, LinkId};

use super::fair::{Fair, Use};
use super::queues::Queues;
use super::short::Bookings;
use super::stream::Stream;
use super::ways::Ways;
use crate::SimError;
use crate::calendar::{Calendar, MOST_KEY, NEVER};
use crate::config::{Config, Release};
use crate::program::{Desk, Due, Post, Program};
use crate::scheme::Scheme;

pub(super) const NONE: u32 = u32::MAX;

/// What happens to a host: the lower two bits of an event's key.
pub(super) const RECEIVED: u32 = 0;
pub(super) const SENT: u32 = 1;
pub(super) const TIMER: u32 = 2;
pub(super) const DUE: u32 = 3;
/// The program hears news, after everything else but rates.
pub(super) const NEWS: u32 = MOST_KEY - 1;
/// Rates are settled, after everything else of that time.
pub(super) const SETTLE: u32 = MOST_KEY;
/// Data of [`SENT`]: of a stream rather than of a short message.
pub(super) const OF_STREAM: u32 = 1 << 25;

/// A message on its way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Message<T> {
    pub post: Post<T>,
    pub posted_ps: u64,
    /// The receiver has it, the sender knows that it has left.
    pub received: bool,
    pub sent: bool,
}

#[derive(Debug)]
pub(super) struct Host<T> {
    /// By time: when, when it was posted, what.
    pub due: VecDeque<(u64, u64, Due<T>)>,
    /// Messages whose turn has not come; where messages take turns, short ones alone.
    pub queue: VecDeque<u32>,
    /// The stream of the message whose turn it is.
    pub stream: u32,
    /// A short message is leaving.
    pub walking: bool,
}

/// One network in motion.
#[derive(Debug)]
pub struct Fluid<'f, P: Program> {
    pub(super) fabric: &'f Fabric,
    pub(super) config: Config,
    pub(super) program: P,
    pub(super) ways: Ways<'f>,
    pub(super) fair: Fair,
    pub(super) short: Bookings,
    pub(super) queues: Queues,
    pub(super) hosts: Vec<Host<P::Token>>,
    pub(super) messages: Vec<Message<P::Token>>,
    pub(super) free_messages: Vec<u32>,
    pub(super) streams: Vec<Stream>,
    pub(super) free_streams: Vec<u32>,
    /// The stream of each flow.
    pub(super) stream_of: Vec<u32>,
    /// Open streams by host and address (where messages take turns); never gone through.
    pub(super) open: HashMap<(HostId, DestId), u32>,
    pub(super) calendar: Calendar,
    pub(super) desk: Desk<P::Token>,
    pub(super) now: u64,
    /// Since when rates wait to be settled.
    pub(super) unsettled_ps: u64,
    /// How long they wait at most.
    pub(super) resolution_ps: u64,
    /// Messages that have come to adapters.
    pub(super) order: u64,
    pub(super) events: u64,
    pub(super) settlements: u64,
    /// By link that stands for others: bytes and packets.
    pub(super) carried: Vec<(f64, f64)>,
    pub(super) failed: Option<SimError>,
    pub(super) uses: Vec<Use>,
    pub(super) changed: Vec<u32>,
}

impl<'f, P: Program> Fluid<'f, P> {
    /// An empty network whose hosts run `program`.
    ///
    /// # Errors
    /// [`SimError::Config`] for hardware that can't work.
    pub fn new(
        fabric: &'f Fabric,
        config: &Config,
        scheme: Scheme<'f>,
        program: P,
    ) -> Result<Self, SimError> {
        config.check_for(fabric)?;
        let capacity = |link: LinkId| long_rate(fabric, config, link);
        // (Behind the links, what adapters may have without a response.)
        let window = config.window_packets.map_or(0.0, f64::from) * f64::from(config.wire_bytes());
        let windows = fabric.hosts().filter(|_| window > 0.0).map(|_| window);
        let packet_ps = f64::from(config.wire_bytes()) * 1e12 / fabric.reference_bandwidth_bytes_per_s();
        let host = || Host { due: VecDeque::new(), queue: VecDeque::new(), stream: NONE, walking: false };
        Ok(Self {
            fabric,
            config: config.clone(),
            program,
            ways: Ways::new(fabric, config, scheme),
            fair: Fair::new(fabric.links().map(capacity).chain(windows).collect()),
            short: Bookings::new(fabric.link_count()),
            queues: Queues::new(fabric, config, scheme.paths().is_none()),
            hosts: fabric.hosts().map(|_| host()).collect(),
            messages: Vec::new(),
            free_messages: Vec::new(),
            streams: Vec::new(),
            free_streams: Vec::new(),
            stream_of: Vec::new(),
            open: HashMap::new(),
            calendar: Calendar::new(),
            desk: Desk::default(),
            now: 0,
            unsettled_ps: NEVER,
            resolution_ps: packet_ps as u64,
            order: 0,
            events: 0,
            settlements: 0,
            carried: vec![(0.0, 0.0); fabric.link_count()],
            failed: None,
            uses: Vec::new(),
            changed: Vec::new(),
        })
    }
}

/// What a link carries of long messages, bytes a ps: its bandwidth, or what fits the room that its packets wait for, over the time from a packet's
/// leaving until its room is back.
fn long_rate(fabric: &Fabric, config: &Config, link: LinkId) -> f64 {
    let bandwidth = fabric.bandwidth_bytes_per_s(link) / 1e12;
    let room = match config.release {
        Release::Sent => config.input_buffer_bytes,
        Release::Admitted if fabric.between_switches(link) => Some(config.output_buffer_bytes),
        Release::Admitted => Some(config.host_output_buffer_bytes),
    };
    let wire = f64::from(config.wire_bytes());
    let credit_ps = config.cable_ps(link) as f64 + f64::from(config.credit_bytes) / bandwidth;
    let back_ps = wire / bandwidth + config.delay_ps(fabric, link) as f64 + credit_ps;
    let packets = |bytes: u32| f64::from(bytes / config.wire_bytes()) * f64::from(config.lanes);
    room.map_or(bandwidth, |bytes| bandwidth.min(packets(bytes) * wire / back_ps))
}
