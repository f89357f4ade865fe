//! Golden packets of the layouts beside `ds`, and what holds of all of them.

use netloom_sampling::layout::{Did, Layout};
use netloom_sampling::{Hash, Tag};

use crate::layouts::{Case, DF, UDP, byte, case_of, checksum, frame};

const TCP: u8 = 6;

/// A frame of a layout without a tag; `second` changes its id where the packet makes it.
fn free(layout: Layout, second: u32) -> Vec<u8> {
    match layout {
        Layout::Ds | Layout::DsTtl { .. } => frame(0, 9, DF, UDP, 0),
        Layout::Ipv6 => ipv6(0, UDP, second as u16),
        Layout::Shim => udp(28_268, &[0, 0, 0, 0, 0, 0, 0x6E, 0x6C, 1, 2, 3, 4], true),
        Layout::Bth => udp(4791, &bth(0, second), false),
    }
}

/// A base transport header of a send to QP 0x12, then two words.
fn bth(bits: u8, psn: u32) -> Vec<u8> {
    let mut found = vec![4, 0, 0xFF, 0xFF, bits, 0, 0, 0x12, 0x80];
    found.extend(&psn.to_be_bytes()[1..]);
    found.extend([1, 2, 3, 4, 5, 6, 7, 8]);
    found
}

/// UDP in IPv4; `summed`: with a checksum.
fn udp(port: u16, payload: &[u8], summed: bool) -> Vec<u8> {
    let mut found = frame(0, 9, DF, UDP, 0);
    found.truncate(34);
    let length = 8 + payload.len() as u16;
    found[16..18].copy_from_slice(&(20 + length).to_be_bytes());
    found[24..26].fill(0);
    let sum = checksum(&found[14..34]);
    found[24..26].copy_from_slice(&sum.to_be_bytes());
    found.extend(0x1234_u16.to_be_bytes());
    found.extend(port.to_be_bytes());
    found.extend(length.to_be_bytes());
    found.extend([0, 0]);
    found.extend(payload);
    if summed {
        let sum = checksum(&pseudo(&found));
        found[40..42].copy_from_slice(&sum.to_be_bytes());
    }
    found
}

/// What UDP's checksum in IPv4 is of: addresses, protocol, length, header and payload.
fn pseudo(frame: &[u8]) -> Vec<u8> {
    let mut found = frame[26..34].to_vec();
    found.extend([0, UDP]);
    found.extend(&frame[38..40]);
    found.extend(&frame[34..]);
    found
}

/// IPv6 with 20 bytes behind it, whose checksum is `id`.
fn ipv6(class: u8, next: u8, id: u16) -> Vec<u8> {
    let mut found = vec![2, 0, 0, 0, 2, 2, 2, 0, 0, 0, 1, 1, 0x86, 0xDD];
    found.extend([0x60 | class >> 4, class << 4 | 0x0A, 0xBC, 0xDE, 0, 20, next, 64]);
    found.extend((0..32).map(|at| 0x20 + at));
    let mut transport = [7; 20];
    let at = if next == TCP { 16 } else { 6 };
    transport[at..at + 2].copy_from_slice(&id.to_be_bytes());
    found.extend(transport);
    found
}

/// A frame of a layout with this tag.
fn tagged(layout: Layout, tag: Tag, second: u32) -> Vec<u8> {
    let Tag { bit, congested, hops } = tag;
    match layout {
        Layout::Ds => frame(byte(bit, congested, hops), second as u16, DF, UDP, 0),
        // As it is at a switch: its own link is not counted yet, so the TTL has come down by the hops.
        Layout::DsTtl { initial } => {
            let ds = 0x8E | u8::from(bit) << 6 | u8::from(congested) << 5;
            let mut found = frame(ds, second as u16, DF, UDP, 0);
            found[22] = initial - hops;
            found[24..26].fill(0);
            let sum = checksum(&found[14..34]);
            found[24..26].copy_from_slice(&sum.to_be_bytes());
            found
        }
        Layout::Ipv6 => {
            ipv6(byte(bit, congested, hops), if hops % 2 == 0 { TCP } else { UDP }, second as u16)
        }
        Layout::Shim => {
            let mut payload = second.to_be_bytes().to_vec();
            payload.extend([0x10 | hops, u8::from(bit) << 1 | u8::from(congested), 0x6E, 0x6C, 9, 9]);
            udp(28_268, &payload, hops % 2 == 0)
        }
        Layout::Bth => {
            let bits = 0xA0 | (hops - 1) << 2 | u8::from(bit) << 1 | u8::from(congested);
            udp(4791, &bth(bits, second), hops % 2 == 0)
        }
    }
}

/// What no step of a layout may touch.
fn untouched(layout: Layout) -> Vec<(String, Vec<u8>)> {
    let whole = tagged(layout, Tag { bit: true, congested: false, hops: 3 }, 7);
    let mut found: Vec<(String, Vec<u8>)> =
        [14, 20, 30, if matches!(layout, Layout::DsTtl { .. }) { 33 } else { 41 }]
            .into_iter()
            .map(|length| (format!("{length} bytes"), whole[..length].to_vec()))
            .collect();
    let mut with = |name: &str, changes: &[(usize, u8)]| {
        let mut other = whole.clone();
        for &(at, value) in changes {
            other[at] = value;
        }
        found.push((name.to_owned(), other));
    };
    with("ARP", &[(12, 8), (13, 6)]);
    with("VLAN", &[(12, 0x81), (13, 0)]);
    match layout {
        Layout::Ds => {}
        Layout::DsTtl { .. } => {
            for dscp in [46_u8, 34, 40, 56, 8, 44, 3, 19, 37] {
                with(&format!("DSCP {dscp}"), &[(15, dscp << 2)]);
            }
            with("ICMP", &[(23, 1)]);
            with("GRE", &[(23, 47)]);
            with("more fragments", &[(20, 0x60)]);
            with("may be fragmented", &[(20, 0)]);
            with("TTL above the first", &[(22, 65)]);
            with("TTL far below", &[(22, 30)]);
        }
        Layout::Ipv6 => {
            with("a fragment's header", &[(20, 44)]);
            with("ICMPv6", &[(20, 58)]);
            with("version 4", &[(14, 0x49)]);
            for class in [0xB8_u8, 0x80, 0xC0, 0x01, 0x03, 0x81] {
                with(&format!("class {class:#04x}"), &[(14, 0x60 | class >> 4), (15, class << 4)]);
            }
            with("UDP without a checksum", &[(20, UDP), (60, 0), (61, 0)]);
        }
        Layout::Shim => {
            with("another port", &[(37, 1)]);
            with("other letters", &[(48, 0)]);
            with("version 2", &[(46, 0x23)]);
            with("no hops", &[(46, 0x10)]);
            with("unknown bits", &[(47, 0x42)]);
            with("data where the id is to be", &[(46, 0), (47, 0)]);
            with("options", &[(14, 0x46)]);
            with("TCP", &[(23, TCP)]);
            with("a fragment", &[(20, 0x20)]);
        }
        Layout::Bth => {
            with("another port", &[(37, 1)]);
            with("no tag, and other bits", &[(46, 0x05)]);
            with("options", &[(14, 0x46)]);
            with("TCP", &[(23, TCP)]);
            with("a fragment", &[(20, 0x20)]);
        }
    }
    found
}

/// The packets of a layout's file.
pub fn cases(layout: Layout) -> Vec<Case> {
    let hash = Hash::standard(14).unwrap();
    let masks = [hash.mask(0x2001), hash.mask(0x2ABC)];
    let mut found = Vec::new();
    for id in [0_u32, 1, 0x8000, 0xFFFF, 0x0001_0000, 0xDEAD_BEEF, 0xFFFF_FFFF] {
        for congested in [false, true] {
            let name = format!("id {id:#010x}, congested {congested}");
            let frame = free(layout, (id & 0xFF_FFFF) | 0x100);
            found.push(case_of(layout, name, "sender", masks[0], congested, id, frame));
        }
    }
    for hops in 1..layout.most() + u8::from(!matches!(layout, Layout::DsTtl { .. })) {
        let border = 65_536 / (u32::from(hops) + 1);
        for draw in [border - 1, border] {
            for (old, congested) in [(false, true), (true, false)] {
                let tag = Tag { bit: old, congested: old, hops };
                let name = format!("{hops} hops, draw {draw}, congested before {old} and now {congested}");
                let frame = tagged(layout, tag, 0x5A_1200 | u32::from(hops));
                let mask = masks[usize::from(hops % 2)];
                found.push(case_of(layout, name, "switch", mask, congested, draw, frame));
            }
        }
        for (bit, congested) in [(false, false), (true, false), (false, true), (true, true)] {
            let name = format!("{hops} hops, bit {bit}, congested {congested}");
            let frame = tagged(layout, Tag { bit, congested, hops }, 0xA5_F000 | u32::from(hops));
            found.push(case_of(layout, name, "receiver", masks[0], false, 0, frame));
        }
    }
    for (name, frame) in untouched(layout) {
        for step in ["switch", "receiver"] {
            found.push(case_of(layout, name.clone(), step, masks[0], true, 0, frame.clone()));
        }
        let refused = case_of(layout, name, "sender", masks[0], true, 0, frame);
        if refused.did != Did::Sampled {
            found.push(refused);
        }
    }
    found
}

fn others() -> impl Iterator<Item = Layout> {
    Layout::ALL.into_iter().filter(|layout| *layout != Layout::Ds)
}

#[test]
fn frames_without_a_tag_of_the_layout_stay_as_they_are() {
    let mut count = 0;
    for layout in others() {
        for case in cases(layout).iter().filter(|case| !["sampled", "replaced"].contains(&case.did.name())) {
            assert!(case.out == case.frame, "{} {}: {}", layout.name(), case.step, case.name);
            count += 1;
        }
        for (name, frame) in untouched(layout) {
            let mut out = frame.clone();
            assert!(!matches!(layout.forward(&mut out, 1, true, 0), Did::Sampled | Did::Replaced), "{name}");
            assert!(layout.receive(&mut out).is_err(), "{}: {name}", layout.name());
        }
    }
    assert!(count > 100, "{count}");
}

/// Checksums are summed up anew; only the layout's own bytes differ.
#[test]
fn checksums_stay_right_and_only_the_layouts_bytes_change() {
    for layout in others() {
        let own: &[usize] = match layout {
            Layout::Ds => &[],
            Layout::DsTtl { .. } => &[15, 18, 19, 24, 25],
            Layout::Ipv6 => &[14, 15],
            Layout::Shim => &[40, 41, 42, 43, 44, 45, 46, 47],
            Layout::Bth => &[40, 41, 46],
        };
        let mut sums = 0;
        for case in cases(layout).iter().filter(|case| ["sampled", "replaced"].contains(&case.did.name())) {
            let changed: Vec<usize> =
                (0..case.out.len()).filter(|&at| case.out[at] != case.frame[at]).collect();
            assert!(changed.iter().all(|at| own.contains(at)), "{}: {changed:?}", case.name);
            if layout == Layout::Ipv6 {
                // Version and flow label are others'.
                assert_eq!((case.out[14] & 0xF0, case.out[15] & 0x0F), (0x60, 0x0A));
                continue;
            }
            assert!(matches!(checksum(&case.out[14..34]), 0 | 0xFFFF), "{}", case.name);
            if !matches!(layout, Layout::DsTtl { .. }) && case.frame[40..42] != [0, 0] {
                assert_ne!(case.out[40..42], [0, 0], "a checksum became none");
                assert!(matches!(checksum(&pseudo(&case.out)), 0 | 0xFFFF), "{}", case.name);
                sums += 1;
            }
        }
        assert!(sums > 20 || matches!(layout, Layout::DsTtl { .. } | Layout::Ipv6), "{}", layout.name());
    }
}

/// Sent, over switches, received: the tag is that of the model without any layout, and the frame is as it was but for the id.
#[test]
fn a_way_of_three_switches_is_that_of_the_tag() {
    let hash = Hash::standard(14).unwrap();
    for layout in Layout::ALL {
        for trial in 0..200_u32 {
            let (first, id) = (free(layout, 0x100 + trial), trial.wrapping_mul(0x9E37_79B9));
            let mut out = first.clone();
            assert_eq!(layout.send(&mut out, id, hash.mask(0x2000), false), Did::Sampled);
            let mut expected = None;
            for (k, link) in [0x2001, 0x2002, 0x2003].into_iter().enumerate() {
                if matches!(layout, Layout::DsTtl { .. }) {
                    // A router: one down, and its checksum one up.
                    out[22] -= 1;
                    out[24..26].fill(0);
                    let sum = checksum(&out[14..34]);
                    out[24..26].copy_from_slice(&sum.to_be_bytes());
                }
                let draw = (trial.wrapping_mul(40_503) >> k) as u16;
                if layout.forward(&mut out, hash.mask(link), k == 1, draw) == Did::Replaced {
                    expected = Some((link, k == 1));
                }
                assert_eq!(
                    u32::from(draw) < 65_536 / (k as u32 + 2),
                    expected.is_some_and(|(l, _)| l == link)
                );
            }
            let (told, tag) = layout.receive(&mut out).unwrap();
            if matches!(layout, Layout::Ds | Layout::DsTtl { .. } | Layout::Shim) {
                let bits = if layout.id_bits() == 16 { 0xFFFF } else { u32::MAX };
                assert_eq!(told, id & bits);
            }
            let (link, congested) = expected.unwrap_or((0x2000, false));
            let bit = (told & hash.mask(link)).count_ones() % 2 == 1;
            assert_eq!(tag, Tag { bit, congested, hops: 4 }, "{}", layout.name());
            // Nothing of the tag is left.
            let mut again = out.clone();
            assert!(layout.receive(&mut again).is_err());
            if matches!(layout, Layout::Ipv6 | Layout::Shim | Layout::Bth) {
                assert!(out == first, "{}", layout.name());
            }
        }
    }
}

/// Ids of consecutive PSNs: each of 64 masks halves them, as random ones would be.
#[test]
fn consecutive_psns_make_ids_that_masks_halve() {
    let hash = Hash::standard(14).unwrap();
    let ids: Vec<u32> = (0..4096)
        .map(|psn| {
            let mut frame = udp(4791, &bth(0, psn), false);
            layout_id(&mut frame)
        })
        .collect();
    for link in 0..64 {
        let ones = ids.iter().filter(|&&id| (id & hash.mask(0x2000 + link)).count_ones() % 2 == 1).count();
        // 2,048 expected, a standard deviation of 32: five of them.
        assert!(ones.abs_diff(2048) < 160, "link {link}: {ones}");
        // Of two links the bits are independent.
        let mask = hash.mask(0x2000 + link) ^ hash.mask(0x2100 + link);
        let ones = ids.iter().filter(|&&id| (id & mask).count_ones() % 2 == 1).count();
        assert!(ones.abs_diff(2048) < 160, "links {link}: {ones}");
    }
}

fn layout_id(frame: &mut [u8]) -> u32 {
    assert_eq!(Layout::Bth.send(frame, 0, 0, false), Did::Sampled);
    Layout::Bth.receive(frame).unwrap().0
}
