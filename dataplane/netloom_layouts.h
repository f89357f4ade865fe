/* Where the bits of path sampling are in real packets: layout `ds`.
 *
 * Portable C99, header only, as netloom_sampling.h is; the same for C, for BPF programs and for tests. The golden
 * packets in golden/ds.json come from crates/sampling (layout.rs), and C and BPF are held to them. layouts.md says
 * where the layout may be used, and what it breaks.
 *
 * The byte of IPv4's differentiated services (DS) is E HHHH B CC: E is 1, HHHH the links so far (1 to 15), B the hash
 * bit, CC 1, or 3 if the link that B names was congested. The packet's id is IPv4's identification. No other byte
 * changes but the header's checksum.
 *
 * Source: Taffet, dissertation, sec. 2.6.1 (figures 2.11 to 2.13); RFC 1624 (checksum), RFC 6864 (identification).
 */
#ifndef NETLOOM_LAYOUTS_H
#define NETLOOM_LAYOUTS_H

#include "netloom_sampling.h"

/* The largest hop count; on longer ways it stands for all beyond. */
#define NETLOOM_DS_MOST 15

/* The first 20 bytes of an IPv4 header; words of two bytes and addresses as they are on the wire. */
struct netloom_ipv4 {
    uint8_t version_length;
    uint8_t ds;
    uint16_t total_length;
    uint16_t id;
    uint16_t fragment;
    uint8_t ttl;
    uint8_t protocol;
    uint16_t checksum;
    uint32_t source;
    uint32_t destination;
};

/* What a step did to a packet. */
enum netloom_did {
    NETLOOM_SAMPLED,    /* carries a tag, and did before unless the sender put it there */
    NETLOOM_REPLACED,   /* a switch put its own link into the tag */
    NETLOOM_NOT_OURS,   /* left as it was: no tag, or no packet that may have one */
    NETLOOM_FRAGMENT,   /* left as it was: a fragment */
    NETLOOM_MAY_FRAGMENT, /* left as it was: whole, but it may be cut on its way (no DF), and needs its identification */
    NETLOOM_DS_IN_USE   /* left as it was by the sender: somebody else uses the DS byte */
};

static inline uint8_t netloom_ds_byte(struct netloom_tag tag)
{
    return (uint8_t)(0x80 | (tag.hops << 3) | (tag.bit << 2) | (tag.congested ? 3 : 1));
}

static inline struct netloom_tag netloom_ds_tag(uint8_t ds)
{
    struct netloom_tag tag;
    tag.hops = (uint8_t)((ds >> 3) & 15);
    tag.bit = (uint8_t)((ds >> 2) & 1);
    tag.congested = (uint8_t)((ds & 3) == 3);
    return tag;
}

/* Whether a DS byte is a tag. Code points of 32 and more (EF, CS4 to CS7) set E too, but mostly not the ECN bit. */
static inline int netloom_ds_is_tag(uint8_t ds)
{
    return (ds & 0x81) == 0x81 && (ds & 0x78) != 0;
}

/* A number of two bytes as it is on the wire, and back. */
static inline uint16_t netloom_wire(uint16_t number)
{
    union {
        uint8_t bytes[2];
        uint16_t word;
    } wire;
    wire.bytes[0] = (uint8_t)(number >> 8);
    wire.bytes[1] = (uint8_t)number;
    return wire.word;
}

/* The checksum after a word of the header has changed (RFC 1624, equation 3), in any order of bytes. */
static inline uint16_t netloom_checksum(uint16_t checksum, uint16_t before, uint16_t after)
{
    uint32_t sum = (uint16_t)~checksum;
    sum += (uint16_t)~before;
    sum += after;
    sum = (sum & 0xFFFF) + (sum >> 16);
    sum = (sum & 0xFFFF) + (sum >> 16);
    return (uint16_t)~sum;
}

static inline void netloom_put_ds(struct netloom_ipv4 *ip, uint8_t ds)
{
    uint16_t before = netloom_wire((uint16_t)(ip->version_length << 8 | ip->ds));
    uint16_t after = netloom_wire((uint16_t)(ip->version_length << 8 | ds));
    ip->checksum = netloom_checksum(ip->checksum, before, after);
    ip->ds = ds;
}

static inline void netloom_put_id(struct netloom_ipv4 *ip, uint16_t id)
{
    uint16_t after = netloom_wire(id);
    ip->checksum = netloom_checksum(ip->checksum, ip->id, after);
    ip->id = after;
}

/* Whether this is IPv4 with a header that can be. */
static inline int netloom_is_ipv4(const struct netloom_ipv4 *ip)
{
    return (ip->version_length & 0xF0) == 0x40 && (ip->version_length & 0x0F) >= 5;
}

/* Whether this is UDP or TCP in IPv4: DS bytes of all else are others'. */
static inline int netloom_is_transport(const struct netloom_ipv4 *ip)
{
    return netloom_is_ipv4(ip) && (ip->protocol == 17 || ip->protocol == 6);
}

/* Whether the packet is no fragment: no others follow, and it is the first. */
static inline int netloom_is_whole(const struct netloom_ipv4 *ip)
{
    return (ip->fragment & netloom_wire(0x3FFF)) == 0;
}

/* Whether the packet is whole and stays so: only then its identification is free. */
static inline int netloom_is_atomic(const struct netloom_ipv4 *ip)
{
    return (ip->fragment & netloom_wire(0x7FFF)) == netloom_wire(0x4000);
}

/* A host sends a packet over its link: UDP and TCP that cannot be fragmented. A tag that is there already is none of
 * a sender's, and is made anew. `id` should be random. */
static inline enum netloom_did netloom_ds_send(struct netloom_ipv4 *ip, uint16_t id, uint32_t mask, uint8_t congested)
{
    if (!netloom_is_transport(ip))
        return NETLOOM_NOT_OURS;
    if (!netloom_is_atomic(ip))
        return netloom_is_whole(ip) ? NETLOOM_MAY_FRAGMENT : NETLOOM_FRAGMENT;
    if (ip->ds != 0 && !netloom_ds_is_tag(ip->ds))
        return NETLOOM_DS_IN_USE;
    netloom_put_id(ip, id);
    netloom_put_ds(ip, netloom_ds_byte(netloom_send(id, mask, congested)));
    return NETLOOM_SAMPLED;
}

/* Whether a packet carries a tag, for switches and receivers. */
static inline enum netloom_did netloom_ds_found(const struct netloom_ipv4 *ip)
{
    if (!netloom_is_transport(ip) || !netloom_ds_is_tag(ip->ds))
        return NETLOOM_NOT_OURS;
    if (netloom_is_atomic(ip))
        return NETLOOM_SAMPLED;
    return netloom_is_whole(ip) ? NETLOOM_MAY_FRAGMENT : NETLOOM_FRAGMENT;
}

/* A switch forwards a packet over a link; `draw` are 16 random bits. */
static inline enum netloom_did netloom_ds_forward(
    struct netloom_ipv4 *ip, uint32_t mask, uint8_t congested, uint16_t draw)
{
    enum netloom_did did = netloom_ds_found(ip);
    struct netloom_tag tag;
    if (did != NETLOOM_SAMPLED)
        return did;
    tag = netloom_ds_tag(ip->ds);
    if (draw < netloom_threshold(tag.hops))
        did = NETLOOM_REPLACED;
    netloom_forward(&tag, netloom_wire(ip->id), mask, congested, draw, NETLOOM_DS_MOST);
    netloom_put_ds(ip, netloom_ds_byte(tag));
    return did;
}

/* A host takes the tag off a packet: what comes to its programs is as it was sent, but for the identification. */
static inline enum netloom_did netloom_ds_receive(struct netloom_ipv4 *ip, struct netloom_tag *tag)
{
    enum netloom_did did = netloom_ds_found(ip);
    if (did == NETLOOM_SAMPLED) {
        *tag = netloom_ds_tag(ip->ds);
        netloom_put_ds(ip, 0);
    }
    return did;
}

#endif
