/* Path sampling in a P4 switch: layout `ds` on BMv2's v1model, behind the simplest forwarding.
 *
 * The egress is figure 2.12: a table from hops to the threshold of the draw, and a table from ports to masks, whose
 * parity with the packet's id is the hash bit. `netloom dataplane plan --p4` writes the entries of both, and of
 * `edges`: what becomes of tags in packets that come in by a port. The arithmetic is that of netloom_layouts.h, held
 * to golden/ds.json. With -DNETLOOM_GOLDEN random numbers and queues come from the packet's source address: for tests.
 *
 * Source: Taffet, dissertation, sec. 2.6.1 (figures 2.11 to 2.13), Algorithms 4 and 5; RFC 1624 (checksum).
 */
#include <core.p4>
#include <v1model.p4>
header ethernet_t {
    bit<48> destination;
    bit<48> source;
    bit<16> kind;
}

/* The first 20 bytes; options are payload, as the checksum is changed and never summed up anew. */
header ipv4_t {
    bit<4> version; bit<4> words;
    bit<8> ds; /* E HHHH B CC */
    bit<16> total_length;
    bit<16> id;
    bit<16> fragment;
    bit<8> ttl;
    bit<8> protocol;
    bit<16> checksum;
    bit<32> source;
    bit<32> destination;
}

struct headers { ethernet_t ethernet; ipv4_t ipv4; }

struct metadata {
    bit<16> mask;       /* of the host's link, or of the port's */
    bit<17> rate;       /* of 65,536 packets of a host so many get a tag */
    bit<19> depth;      /* a queue of so many packets is congested; all ones: never */
    bit<1> takes_off;   /* whether tags end at the port */
    bit<16> threshold;  /* a draw below it replaces what the tag says */
    bit<16> draw;
    bit<1> congested;   /* of the tag, as is its hash bit */
    bit<1> hash_bit;
    bit<1> may; bit<1> has_tag;
}

/* The checksum after a word of the header has changed (RFC 1624, equation 3). */
action change(inout bit<16> checksum, in bit<16> before, in bit<16> after) {
    bit<32> sum = (bit<32>)(~checksum) + (bit<32>)(~before) + (bit<32>)after;
    sum = (sum & 0xFFFF) + (sum >> 16);
    sum = (sum & 0xFFFF) + (sum >> 16);
    checksum = ~(sum[15:0]);
}

action put_ds(inout ipv4_t ip, in bit<8> ds) {
    change(ip.checksum, ip.version ++ ip.words ++ ip.ds, ip.version ++ ip.words ++ ds);
    ip.ds = ds;
}

/* The parity of a packet's id and a mask, by folding. */
action fold(in bit<16> id, in bit<16> mask, out bit<1> parity) {
    bit<16> bits = id & mask;
    bits = bits ^ (bits >> 8);
    bits = bits ^ (bits >> 4);
    bits = bits ^ (bits >> 2);
    parity = bits[0:0] ^ bits[1:1];
}

/* Whether a packet may have a tag, UDP or TCP that cannot be fragmented; and whether its DS byte is one. */
action look(in ipv4_t ip, out bit<1> may, out bit<1> has_tag) {
    may = ((ip.protocol == 17 || ip.protocol == 6) && (ip.fragment & 0x7FFF) == 0x4000) ? 1w1 : 1w0;
    has_tag = (may == 1 && (ip.ds & 0x81) == 0x81 && (ip.ds & 0x78) != 0) ? 1w1 : 1w0;
}

parser Read(packet_in packet, out headers found, inout metadata meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(found.ethernet);
        transition select(found.ethernet.kind) { 0x0800: read_ipv4; default: accept; }
    }
    state read_ipv4 { packet.extract(found.ipv4); transition accept; }
}

control SamplerIngress(inout headers found, inout metadata meta, inout standard_metadata_t standard) {
    /* A port of a switch or a host that takes part: its tags are believed. */
    action trust() { meta.takes_off = 0; }

    /* Any other port: tags are taken off, as a receiver does. */
    action take_off() { meta.takes_off = 1; }

    /* A port of a host without a sender: the switch makes the first tag, of the host's link. */
    action send(bit<16> mask, bit<17> rate) {
        meta.takes_off = 1;
        meta.mask = mask;
        meta.rate = rate;
    }

    table edges {
        key = { standard.ingress_port: exact; }
        actions = { trust; take_off; send; }
        default_action = take_off();
    }

    action to_port(bit<9> port) { standard.egress_spec = port; }
    action drop() { mark_to_drop(standard); }

    table routes {
        key = { found.ipv4.destination: lpm; }
        actions = { to_port; drop; }
        default_action = drop();
    }
    /* What is not IPv4, such as ARP. */
    table bridges {
        key = { standard.ingress_port: exact; }
        actions = { to_port; drop; }
        default_action = drop();
    }

    apply {
        if (found.ipv4.isValid() && found.ipv4.version == 4 && found.ipv4.words >= 5) {
            edges.apply();
            look(found.ipv4, meta.may, meta.has_tag);
            random(meta.draw, 16w0, 16w0xFFFF);
            bit<17> share = (bit<17>)meta.draw;
            random(meta.draw, 16w0, 16w0xFFFF);
#ifdef NETLOOM_GOLDEN
            meta.draw = found.ethernet.source[15:0];
            meta.congested = found.ethernet.source[16:16];
#endif
            if (share < meta.rate && meta.may == 1 && (found.ipv4.ds == 0 || meta.has_tag == 1)) {
                change(found.ipv4.checksum, found.ipv4.id, meta.draw);
                found.ipv4.id = meta.draw;
                fold(meta.draw, meta.mask, meta.hash_bit);
                put_ds(found.ipv4, 5w0b10001 ++ meta.hash_bit ++ meta.congested ++ 1w1);
            } else if (meta.takes_off == 1 && meta.has_tag == 1) {
                put_ds(found.ipv4, 0);
            }
            routes.apply();
        } else {
            bridges.apply();
        }
    }
}

control SamplerEgress(inout headers found, inout metadata meta, inout standard_metadata_t standard) {
    /* A link of the plan. */
    action link(bit<16> mask, bit<19> depth) {
        meta.takes_off = 0;
        meta.mask = mask;
        meta.depth = depth;
    }

    /* A port to somebody who does not take part. */
    action leave() { meta.takes_off = 1; }

    table ports {
        key = { standard.egress_port: exact; }
        actions = { link; leave; }
        default_action = leave();
    }

    action replaces_below(bit<16> threshold) { meta.threshold = threshold; }
    table thresholds {
        key = { found.ipv4.ds[6:3]: exact @name("hops"); }
        actions = { replaces_below; }
        default_action = replaces_below(0);
    }

    apply {
        if (found.ipv4.isValid() && found.ipv4.version == 4 && found.ipv4.words >= 5) {
            look(found.ipv4, meta.may, meta.has_tag);
            ports.apply();
            if (meta.has_tag == 1 && meta.takes_off == 1) {
                put_ds(found.ipv4, 0);
            } else if (meta.has_tag == 1) {
                thresholds.apply();
                random(meta.draw, 16w0, 16w0xFFFF);
                meta.congested = standard.enq_qdepth >= meta.depth ? 1w1 : 1w0;
#ifdef NETLOOM_GOLDEN
                meta.draw = found.ethernet.source[15:0];
                meta.congested = found.ethernet.source[16:16];
#endif
                bit<4> hops = found.ipv4.ds[6:3];
                bit<3> told = found.ipv4.ds[2:0];
                if (meta.draw < meta.threshold) {
                    fold(found.ipv4.id, meta.mask, meta.hash_bit);
                    told = meta.hash_bit ++ meta.congested ++ 1w1;
                }
                put_ds(found.ipv4, 1w1 ++ (hops |+| 1) ++ told);
            }
        }
    }
}

/* The checksum is changed where the header is. */
control Nothing(inout headers found, inout metadata meta) { apply { } }

control Write(packet_out packet, in headers found) {
    apply { packet.emit(found.ethernet); packet.emit(found.ipv4); }
}

V1Switch(Read(), Nothing(), SamplerIngress(), SamplerEgress(), Nothing(), Write()) main;
