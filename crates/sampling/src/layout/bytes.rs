//! Words of a frame, and checksums that follow a change (RFC 1624, equation 3).

/// Bytes of an Ethernet header.
pub(super) const ETHERNET: usize = 14;
/// Of the shortest IPv4 header.
pub(super) const IPV4: usize = 20;
/// Where UDP begins behind that.
pub(super) const UDP: usize = ETHERNET + IPV4;
const FRAGMENT: usize = ETHERNET + 6;
const PROTOCOL: usize = ETHERNET + 9;
const CHECKSUM: usize = ETHERNET + 10;
/// Protocol numbers.
pub(super) const PROTOCOL_TCP: u8 = 6;
pub(super) const PROTOCOL_UDP: u8 = 17;

pub(super) fn word(frame: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([frame[at], frame[at + 1]])
}

pub(super) fn protocol(frame: &[u8]) -> u8 {
    frame[PROTOCOL]
}

/// Flags and offset of a fragment.
pub(super) fn fragment_word(frame: &[u8]) -> u16 {
    word(frame, FRAGMENT)
}

pub(super) fn is_ipv4(frame: &[u8]) -> bool {
    frame.len() >= ETHERNET + IPV4
        && frame[12..14] == [8, 0]
        && frame[ETHERNET] >> 4 == 4
        && frame[ETHERNET] & 15 >= 5
}

/// Whether this is UDP in IPv4 without options, to this port, with so many bytes behind its header.
pub(super) fn is_udp_to(frame: &[u8], port: u16, payload: usize) -> bool {
    frame.len() >= UDP + 8 + payload
        && is_ipv4(frame)
        && frame[ETHERNET] == 0x45
        && protocol(frame) == PROTOCOL_UDP
        && word(frame, UDP + 2) == port
}

/// Puts a word into IPv4's header; its checksum follows.
pub(super) fn put_ipv4(frame: &mut [u8], at: usize, value: u16) {
    let checksum = changed(word(frame, CHECKSUM), word(frame, at), value);
    frame[at..at + 2].copy_from_slice(&value.to_be_bytes());
    frame[CHECKSUM..CHECKSUM + 2].copy_from_slice(&checksum.to_be_bytes());
}

/// Puts a word behind UDP's header; the checksum follows, if there is one: 0 says that there is none, so a sum of 0 is all ones.
pub(super) fn put_udp(frame: &mut [u8], at: usize, value: u16) {
    let before = word(frame, UDP + 6);
    if before != 0 {
        let checksum = match changed(before, word(frame, at), value) {
            0 => 0xFFFF,
            checksum => checksum,
        };
        frame[UDP + 6..UDP + 8].copy_from_slice(&checksum.to_be_bytes());
    }
    frame[at..at + 2].copy_from_slice(&value.to_be_bytes());
}

fn changed(checksum: u16, before: u16, after: u16) -> u16 {
    let fold = |sum: u32| (sum & 0xFFFF) + (sum >> 16);
    let sum = u32::from(!checksum) + u32::from(!before) + u32::from(after);
    !(fold(fold(sum)) as u16)
}
