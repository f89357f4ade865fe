//! Golden packets of every layout: made by this crate, kept in `dataplane/golden`, and the same in C. Here are those of `ds`.
//!
//! The file is a line a packet, so that C and Python read it alike. `NETLOOM_GOLDEN=write` writes it anew.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use netloom_sampling::Hash;
use netloom_sampling::layout::{Did, Layout};

use crate::in_c::printed_by;
use crate::more_layouts;

const PROGRAM: &str = r#"
#include <stdio.h>
#include <string.h>
#include "netloom_more_layouts.h"

/* What a receiver does. */
#define TAKEN(found, clear) ((did = found) == NETLOOM_SAMPLED ? (clear, did) : did)
#define STEP(send, forward, receive) (step[0] == 'r' ? receive : step[1] == 'w' ? forward : send)

int main(void)
{
    static const char *names[] = {"sampled", "replaced", "not_ours", "fragments", "may_fragment", "ds_in_use"};
    char layout[16], step[16], hex[512];
    unsigned mask, busy, random, i, length, byte;
    while (scanf("%15s %15s %x %u %x %511s", layout, step, &mask, &busy, &random, hex) == 6) {
        uint32_t aligned[64];
        uint8_t *frame = (uint8_t *)aligned + 2; /* so that the IPv4 header is at a multiple of four */
        uint8_t congested = (uint8_t)busy, *end;
        uint16_t draw = (uint16_t)random;
        enum netloom_did did = NETLOOM_NOT_OURS;
        struct netloom_ipv4 *ip = (struct netloom_ipv4 *)(void *)(frame + 14);
        struct netloom_tag tag;
        uint32_t id;
        length = (unsigned)strlen(hex) / 2;
        for (i = 0; i < length; i++) {
            if (sscanf(hex + 2 * i, "%2x", &byte) != 1)
                return 1;
            frame[i] = (uint8_t)byte;
        }
        end = frame + length;
        if (layout[0] == 'd' && length >= 34 && frame[12] == 8 && frame[13] == 0)
            did = layout[2] == 0
                ? STEP(netloom_ds_send(ip, draw, mask, congested), netloom_ds_forward(ip, mask, congested, draw),
                       netloom_ds_receive(ip, &tag))
                : STEP(netloom_ttl_send(ip, 64, draw, mask, congested),
                       netloom_ttl_forward(ip, 64, mask, congested, draw), TAKEN(netloom_ttl_found(ip, 64, 1, &tag), netloom_ttl_clear(ip)));
        else if (layout[0] == 'i')
            did = STEP(netloom_v6_send(frame, end, mask, congested),
                       netloom_v6_forward(frame, end, mask, congested, draw),
                       TAKEN(netloom_v6_found(frame, end, &id, &tag), netloom_v6_clear(frame)));
        else if (layout[0] == 's')
            did = STEP(netloom_shim_send(frame, end, random, mask, congested),
                       netloom_shim_forward(frame, end, mask, congested, draw),
                       TAKEN(netloom_shim_found(frame, end, &id, &tag), netloom_shim_clear(frame)));
        else if (layout[0] == 'b')
            did = STEP(netloom_bth_send(frame, end, mask, congested),
                       netloom_bth_forward(frame, end, mask, congested, draw),
                       TAKEN(netloom_bth_found(frame, end, &id, &tag), netloom_bth_clear(frame)));
        printf("%s ", names[did]);
        for (i = 0; i < length; i++)
            printf("%02x", frame[i]);
        printf("\n");
    }
    return 0;
}
"#;

/// A packet before and after a step.
pub struct Case {
    pub name: String,
    pub step: &'static str,
    mask: u32,
    congested: bool,
    random: u32,
    pub frame: Vec<u8>,
    pub out: Vec<u8>,
    pub did: Did,
}

fn golden(layout: Layout) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../dataplane/golden/{}.json", layout.name()))
}

/// The byte of a tag in layout `ds`.
pub fn byte(bit: bool, congested: bool, hops: u8) -> u8 {
    0x80 | hops << 3 | u8::from(bit) << 2 | if congested { 3 } else { 1 }
}

/// The checksum of a header as it is summed up, not as it is kept.
pub fn checksum(header: &[u8]) -> u16 {
    let words = header.chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(pair[1]));
    let mut sum: u32 = words.sum();
    while sum > 0xFFFF {
        sum = (sum & 0xFFFF) + (sum >> 16);
    }
    !(sum as u16)
}

/// An Ethernet frame with IPv4 and a payload of 12 bytes; `fragment` are flags and offset.
pub fn frame(ds: u8, id: u16, fragment: u16, protocol: u8, options: usize) -> Vec<u8> {
    let header = 20 + options;
    let mut ip = vec![0; header];
    ip[0] = 0x40 | (header / 4) as u8;
    ip[1] = ds;
    ip[2..4].copy_from_slice(&(header as u16 + 12).to_be_bytes());
    ip[4..6].copy_from_slice(&id.to_be_bytes());
    ip[6..8].copy_from_slice(&fragment.to_be_bytes());
    (ip[8], ip[9]) = (64, protocol);
    ip[12..20].copy_from_slice(&[10, 0, 1, 1, 10, 0, 2, 2]);
    ip[20..].fill(1);
    let sum = checksum(&ip);
    ip[10..12].copy_from_slice(&sum.to_be_bytes());
    let mut whole = vec![2, 0, 0, 0, 2, 2, 2, 0, 0, 0, 1, 1, 8, 0];
    whole.extend(ip);
    whole.extend([0x12, 0x34, 0x56, 0x78, 0, 12, 0, 0, 0xAA, 0xBB, 0xCC, 0xDD]);
    whole
}

fn case(name: String, step: &'static str, mask: u32, congested: bool, random: u16, frame: Vec<u8>) -> Case {
    case_of(Layout::Ds, name, step, mask, congested, random.into(), frame)
}

/// What a layout makes of a frame.
pub fn case_of(
    layout: Layout,
    name: String,
    step: &'static str,
    mask: u32,
    congested: bool,
    random: u32,
    frame: Vec<u8>,
) -> Case {
    let mut out = frame.clone();
    let did = match step {
        "sender" => layout.send(&mut out, random, mask, congested),
        "switch" => layout.forward(&mut out, mask, congested, random as u16),
        _ => layout.receive(&mut out).map_or_else(|did| did, |_| Did::Sampled),
    };
    Case { name, step, mask, congested, random, frame, out, did }
}

/// Flags of a packet that cannot be fragmented, and UDP's protocol number.
pub const DF: u16 = 0x4000;
pub const UDP: u8 = 17;

/// What no step may touch, by what it is.
fn untouched() -> Vec<(String, Vec<u8>)> {
    let tagged = byte(true, false, 3);
    let mut found = Vec::new();
    for ds in [0xB8, 0x80, 0xA0, 0xC0, 0xE0, 0x20, 0x02, 0x82, 0xFA] {
        found.push((format!("ds {ds:#04x} of others"), frame(ds, 7, DF, UDP, 0)));
    }
    for fragment in [0, 0x2000, 0x6000, 0x0001, 0x4001, 0x2001, 0x1FFF, 0x8000] {
        found.push((format!("fragment field {fragment:#06x}"), frame(tagged, 7, fragment, UDP, 0)));
    }
    for kind in [0x86DD_u16, 0x0806, 0x8100, 0x88A8, 0x8847, 0x0801, 0x0008] {
        // Long enough for a header of IPv6, or the kernel's test runs refuse that one.
        let mut other = frame(tagged, 7, DF, UDP, 20);
        other[12..14].copy_from_slice(&kind.to_be_bytes());
        found.push((format!("ethertype {kind:#06x}"), other));
    }
    for version in [0x35, 0x55, 0x65, 0x44, 0x40, 0x05] {
        let mut other = frame(tagged, 7, DF, UDP, 0);
        other[14] = version;
        found.push((format!("first byte {version:#04x}"), other));
    }
    for length in [14, 15, 20, 26, 33] {
        found.push((format!("{length} bytes"), frame(tagged, 7, DF, UDP, 0)[..length].to_vec()));
    }
    for protocol in [1, 47, 4, 132] {
        found.push((format!("protocol {protocol}"), frame(tagged, 7, DF, protocol, 0)));
    }
    for ds in [0x81, 0x85, 0x83, 0x01, 0x03] {
        found.push((format!("ds {ds:#04x} of no hop or not enabled"), frame(ds, 7, DF, UDP, 0)));
    }
    found
}

fn cases(layout: Layout) -> Vec<Case> {
    if layout != Layout::Ds {
        return more_layouts::cases(layout);
    }
    let hash = Hash::standard(14).unwrap();
    let masks = [hash.mask(0x2001), hash.mask(0x2ABC)];
    let mut found = Vec::new();
    for (k, mask) in masks.into_iter().enumerate() {
        for id in [0, 1, 0x8000, 0xFFFF, 0x1234] {
            for congested in [false, true] {
                let name = format!("id {id:#06x}, link {k}, congested {congested}");
                found.push(case(name, "sender", mask, congested, id, frame(0, 0, DF, UDP, 0)));
            }
        }
    }
    for (what, frame) in [
        ("tcp", frame(0, 9, DF, 6, 0)),
        ("options", frame(0, 9, DF, UDP, 40)),
        ("a tag of somebody else", frame(0xFF, 9, DF, UDP, 0)),
        ("reserved bit", frame(0, 9, 0xC000, UDP, 0)),
        ("icmp", frame(0, 9, DF, 1, 0)),
    ] {
        found.push(case(what.into(), "sender", masks[0], false, 0xBEEF, frame));
    }
    for hops in 1..=15u8 {
        // The last draw that replaces, and the first that does not.
        let border = (65_536 / (u32::from(hops) + 1)) as u16;
        for draw in [border - 1, border] {
            for old in [false, true] {
                for congested in [false, true] {
                    let name =
                        format!("{hops} hops, draw {draw}, congested before {old} and now {congested}");
                    let frame = frame(
                        byte(old, old, hops),
                        0x5A00 | u16::from(hops),
                        DF,
                        UDP,
                        4 * usize::from(hops % 2),
                    );
                    found.push(case(name, "switch", masks[usize::from(hops % 2)], congested, draw, frame));
                }
            }
        }
    }
    for hops in 1..=15u8 {
        for (bit, congested) in [(false, false), (true, false), (false, true), (true, true)] {
            let name = format!("{hops} hops, bit {bit}, congested {congested}");
            let frame = frame(byte(bit, congested, hops), 0xA5F0 | u16::from(hops), DF, UDP, 0);
            found.push(case(name, "receiver", masks[0], false, 0, frame));
        }
    }
    for (name, frame) in untouched() {
        let ds = *frame.get(15).unwrap_or(&0);
        let of_sender = ds != 0 && (ds & 0x81 != 0x81 || ds & 0x78 == 0) || name.starts_with("protocol");
        if of_sender || frame.len() < 34 || frame[12..14] != [8, 0] || frame[14] != 0x45 {
            found.push(case(name.clone(), "sender", masks[0], true, 0, frame.clone()));
        }
        found.push(case(name.clone(), "switch", masks[0], true, 0, frame.clone()));
        found.push(case(name, "receiver", masks[0], true, 0, frame));
    }
    found
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn written(cases: &[Case]) -> String {
    let rows: Vec<String> = cases
        .iter()
        .map(|case| {
            format!(
                "{{\"step\": \"{}\", \"name\": \"{}\", \"mask\": {}, \"congested\": {}, \"random\": {}, \"did\": \"{}\",\n \"in\": \
                 \"{}\",\n \"out\": \"{}\"}}",
                case.step,
                case.name,
                case.mask,
                case.congested,
                case.random,
                case.did.name(),
                hex(&case.frame),
                hex(&case.out)
            )
        })
        .collect();
    format!("[\n{}\n]\n", rows.join(",\n"))
}

#[test]
fn golden_packets_are_those_of_the_file() {
    for layout in Layout::ALL {
        let text = written(&cases(layout));
        if std::env::var_os("NETLOOM_GOLDEN").is_some_and(|asked| asked == "write") {
            std::fs::write(golden(layout), &text).unwrap();
        }
        let kept = std::fs::read_to_string(golden(layout)).unwrap();
        assert!(kept == text, "dataplane/golden/{}.json has changed", layout.name());
    }
}

/// The checksum is summed up anew, from all bytes of the header.
#[test]
fn checksums_stay_right_and_only_ds_id_and_checksum_change() {
    let whole = |case: &&Case| ["sampled", "replaced"].contains(&case.did.name());
    assert!(cases(Layout::Ds).iter().filter(whole).count() > 200);
    for case in cases(Layout::Ds).iter().filter(whole) {
        let header = &case.out[14..14 + 4 * usize::from(case.out[14] & 15)];
        // An ID or a sum of all ones and one of zeros are the same in this arithmetic.
        assert!(matches!(checksum(header), 0 | 0xFFFF), "{}", case.name);
        let changed: Vec<usize> = (0..case.out.len()).filter(|&at| case.out[at] != case.frame[at]).collect();
        assert!(changed.iter().all(|at| [15, 18, 19, 24, 25].contains(at)), "{}: {changed:?}", case.name);
    }
}

#[test]
fn frames_of_others_stay_as_they_are() {
    assert_eq!(untouched().len(), 44);
    for (name, frame) in untouched() {
        for step in ["switch", "receiver"] {
            let case = case(name.clone(), step, 0xFFFF, true, 0, frame.clone());
            assert!(case.out == case.frame && case.did != Did::Sampled, "{step}: {name}");
        }
    }
}

#[test]
fn golden_packets_are_the_same_in_c() {
    let (mut input, mut expected) = (String::new(), String::new());
    let all =
        Layout::ALL.into_iter().flat_map(|layout| cases(layout).into_iter().map(move |case| (layout, case)));
    for (layout, case) in all {
        let _ = writeln!(
            input,
            "{} {} {:x} {} {:x} {}",
            layout.name(),
            case.step,
            case.mask,
            u8::from(case.congested),
            case.random,
            hex(&case.frame)
        );
        let _ = writeln!(expected, "{} {}", case.did.name(), hex(&case.out));
    }
    assert_eq!(printed_by("layouts", PROGRAM, &input), expected);
}
