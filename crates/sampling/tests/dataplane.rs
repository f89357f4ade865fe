//! `dataplane/netloom_sampling.h` does to packets what this crate does.

use netloom_model::rng::{below, stream};
use netloom_sampling::{Hash, HashFunction, HopBits, Tag, WholeTag};

use crate::in_c::printed_by;

const PROGRAM: &str = r#"
#include <stdio.h>
#include "netloom_sampling.h"

int main(void)
{
    unsigned id, links, most, number[40], congested[40], draw[40], i;
    while (scanf("%u %u %u", &id, &most, &links) == 3) {
        struct netloom_tag tag, keyed;
        struct netloom_whole_tag whole;
        for (i = 0; i < links; i++)
            if (scanf("%u %u %u", &number[i], &congested[i], &draw[i]) != 3)
                return 1;
        tag = netloom_send(id, netloom_mask(NETLOOM_MODULUS, NETLOOM_FACTOR, number[0]), (uint8_t)congested[0]);
        keyed = netloom_send_bit(
            netloom_siphash(NETLOOM_KEY_LOW, NETLOOM_KEY_HIGH, id, number[0]), (uint8_t)congested[0]);
        whole = netloom_send_whole(number[0], (uint8_t)congested[0]);
        for (i = 1; i < links; i++) {
            uint32_t mask = netloom_mask(NETLOOM_MODULUS, NETLOOM_FACTOR, number[i]);
            netloom_forward(&tag, id, mask, (uint8_t)congested[i], (uint16_t)draw[i], (uint8_t)most);
            netloom_forward_bit(&keyed, netloom_siphash(NETLOOM_KEY_LOW, NETLOOM_KEY_HIGH, id, number[i]),
                (uint8_t)congested[i], (uint16_t)draw[i], (uint8_t)most);
            netloom_forward_whole(&whole, number[i], (uint8_t)congested[i], (uint16_t)draw[i], (uint8_t)most);
        }
        if (keyed.congested != tag.congested || keyed.hops != tag.hops)
            return 2;
        printf("%u %u %u %u %u %u %u\n", tag.bit, keyed.bit, tag.congested, tag.hops, whole.link, whole.congested, whole.hops);
    }
    return 0;
}
"#;

/// 2,000 packets over 1 to 40 links, hop counts of one to five bits.
#[test]
fn packets_are_the_same_in_c() {
    let hash = Hash::standard(32).unwrap();
    let siphash: HashFunction = "siphash".parse().unwrap();
    let mut random = stream(1, 0);
    let (mut input, mut expected) = (String::new(), String::new());
    for _ in 0..2_000 {
        let id = below(&mut random, 1 << 32) as u32;
        let bits = HopBits::new(1 + below(&mut random, 5) as u8).unwrap();
        let links = 1 + below(&mut random, 40);
        input += &format!("{id} {} {links}", bits.most());
        let (mut tag, mut whole) = (Tag::default(), WholeTag::default());
        for link in 0..links {
            let number = below(&mut random, 1 << 32) as u32;
            let congested = below(&mut random, 2) == 1;
            // The borders too.
            let draw = match below(&mut random, 3) {
                0 => (65_536 / (2 + below(&mut random, 31)) - below(&mut random, 2)) as u16,
                _ => below(&mut random, 1 << 16) as u16,
            };
            input += &format!(" {number} {} {draw}", u8::from(congested));
            if link == 0 {
                tag = Tag::sent(id, hash.mask(number), congested);
                whole = WholeTag::sent(number, congested);
            } else {
                tag.forward(id, hash.mask(number), congested, draw, bits);
                whole.forward(number, congested, draw, bits);
            }
        }
        input += "\n";
        expected += &format!(
            "{} {} {} {} {} {} {}\n",
            u8::from(tag.bit),
            u8::from(siphash.bit(id, whole.link)),
            u8::from(tag.congested),
            tag.hops,
            whole.link,
            u8::from(whole.congested),
            whole.hops
        );
    }
    assert_eq!(printed_by("dataplane", PROGRAM, &input), expected);
}
