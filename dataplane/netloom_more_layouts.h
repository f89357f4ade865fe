/* Layouts beside `ds`: `ds-ttl`, `ipv6`, `shim` and `bth`, on the bytes of Ethernet frames.
 *
 * Portable C99, header only; the same for C, for BPF programs and for tests. The golden packets in golden/ come from
 * crates/sampling (layout/), and C and BPF are held to them. layouts.md says where each may be used. Every function
 * takes a frame and its end, and looks at no byte beyond it.
 *
 * Source: Taffet, dissertation, sec. 2.6.1; RFC 2474 (code points for local use), RFC 1624 (checksums); InfiniBand
 * Architecture Specification, vol. 1, sec. 9.2 and annex A17 (base transport header).
 */
#ifndef NETLOOM_MORE_LAYOUTS_H
#define NETLOOM_MORE_LAYOUTS_H

#include "netloom_layouts.h"

#define NETLOOM_SHIM_PORT 28268
#define NETLOOM_SHIM_LETTERS 0x6E6C
#define NETLOOM_ROCE_PORT 4791
#define NETLOOM_TTL_MOST 32
#define NETLOOM_BTH_MOST 8

/* Offsets in a frame: IPv4 and IPv6 behind Ethernet, UDP behind 20 bytes of IPv4, and what is behind that. */
enum { NETLOOM_IP = 14, NETLOOM_UDP = 34, NETLOOM_SHIM = 42, NETLOOM_BTH = 42 };

static inline uint16_t netloom_get(const uint8_t *at)
{
    return (uint16_t)(at[0] << 8 | at[1]);
}

static inline void netloom_set(uint8_t *at, uint16_t value)
{
    at[0] = (uint8_t)(value >> 8);
    at[1] = (uint8_t)value;
}

/* UDP in IPv4 without options to a port, whole, with so many bytes behind UDP's header; else why not. */
static inline enum netloom_did netloom_udp_to(const uint8_t *frame, const uint8_t *end, uint16_t port, unsigned bytes)
{
    if (frame + NETLOOM_UDP + 8 + bytes > end || frame[12] != 8 || frame[13] != 0 || frame[NETLOOM_IP] != 0x45)
        return NETLOOM_NOT_OURS;
    if (frame[NETLOOM_IP + 9] != 17 || netloom_get(frame + NETLOOM_UDP + 2) != port)
        return NETLOOM_NOT_OURS;
    return NETLOOM_SAMPLED;
}

/* The same of fragments, which is asked last. */
static inline enum netloom_did netloom_unless_fragment(const uint8_t *frame)
{
    return (netloom_get(frame + NETLOOM_IP + 6) & 0x3FFF) ? NETLOOM_FRAGMENT : NETLOOM_SAMPLED;
}

/* Puts a word behind UDP's header; the checksum follows, if there is one: a sum of 0 is all ones. */
static inline void netloom_put_udp(uint8_t *frame, uint8_t *at, uint16_t value)
{
    uint8_t *sum = frame + NETLOOM_UDP + 6;
    uint16_t before = netloom_get(sum), after;
    if (before != 0) {
        after = netloom_checksum(before, netloom_get(at), value);
        netloom_set(sum, after ? after : 0xFFFF);
    }
    netloom_set(at, value);
}

/* -- ds-ttl: the DS byte is 1 B C 0 1 1 EE, hops are how far the TTL has come down ------------------------------- */

static inline int netloom_ttl_is_tag(uint8_t ds)
{
    return (ds & 0x9C) == 0x8C;
}

static inline uint8_t netloom_ttl_byte(uint8_t ds, uint8_t bit, uint8_t congested)
{
    return (uint8_t)(0x8C | bit << 6 | (congested ? 0x20 : 0) | (ds & 3));
}

static inline enum netloom_did netloom_ttl_send(
    struct netloom_ipv4 *ip, uint8_t initial, uint16_t id, uint32_t mask, uint8_t congested)
{
    if (!netloom_is_transport(ip))
        return NETLOOM_NOT_OURS;
    if (!netloom_is_atomic(ip))
        return netloom_is_whole(ip) ? NETLOOM_MAY_FRAGMENT : NETLOOM_FRAGMENT;
    if (((ip->ds & 0xFC) != 0 && !netloom_ttl_is_tag(ip->ds)) || ip->ttl != initial)
        return NETLOOM_DS_IN_USE;
    netloom_put_id(ip, id);
    netloom_put_ds(ip, netloom_ttl_byte(ip->ds, netloom_parity(id & mask), congested));
    return NETLOOM_SAMPLED;
}

/* The tag of a packet that is about to leave a router (`received` 0), or has come to a host (1). */
static inline enum netloom_did netloom_ttl_found(
    const struct netloom_ipv4 *ip, uint8_t initial, uint8_t received, struct netloom_tag *tag)
{
    uint8_t hops;
    if (!netloom_is_transport(ip) || !netloom_ttl_is_tag(ip->ds))
        return NETLOOM_NOT_OURS;
    if (!netloom_is_atomic(ip))
        return netloom_is_whole(ip) ? NETLOOM_MAY_FRAGMENT : NETLOOM_FRAGMENT;
    if (ip->ttl > initial || initial - ip->ttl >= NETLOOM_TTL_MOST)
        return NETLOOM_NOT_OURS;
    hops = (uint8_t)(initial - ip->ttl + received);
    if (hops == 0)
        return NETLOOM_NOT_OURS;
    tag->hops = hops;
    tag->bit = (uint8_t)((ip->ds >> 6) & 1);
    tag->congested = (uint8_t)((ip->ds >> 5) & 1);
    return NETLOOM_SAMPLED;
}

static inline enum netloom_did netloom_ttl_forward(
    struct netloom_ipv4 *ip, uint8_t initial, uint32_t mask, uint8_t congested, uint16_t draw)
{
    struct netloom_tag tag = {0, 0, 0};
    enum netloom_did did = netloom_ttl_found(ip, initial, 0, &tag);
    if (did != NETLOOM_SAMPLED)
        return did;
    if (draw < netloom_threshold(tag.hops))
        did = NETLOOM_REPLACED;
    netloom_forward(&tag, netloom_wire(ip->id), mask, congested, draw, NETLOOM_TTL_MOST);
    netloom_put_ds(ip, netloom_ttl_byte(ip->ds, tag.bit, tag.congested));
    return did;
}

/* Takes the tag off a packet that has one; ECN stays. */
static inline void netloom_ttl_clear(struct netloom_ipv4 *ip)
{
    netloom_put_ds(ip, ip->ds & 3);
}

/* -- ipv6: the byte of ds in the traffic class, the checksum of UDP or TCP as the id ----------------------------- */

static inline uint8_t netloom_v6_class(const uint8_t *frame)
{
    return (uint8_t)(frame[NETLOOM_IP] << 4 | frame[NETLOOM_IP + 1] >> 4);
}

static inline void netloom_v6_put(uint8_t *frame, uint8_t class_byte)
{
    frame[NETLOOM_IP] = (uint8_t)((frame[NETLOOM_IP] & 0xF0) | class_byte >> 4);
    frame[NETLOOM_IP + 1] = (uint8_t)((frame[NETLOOM_IP + 1] & 0x0F) | (uint8_t)(class_byte << 4));
}

/* The id; 0: no packet that may have a tag. */
static inline uint16_t netloom_v6_id(const uint8_t *frame, const uint8_t *end)
{
    if (frame + NETLOOM_IP + 48 > end || frame[12] != 0x86 || frame[13] != 0xDD || frame[NETLOOM_IP] >> 4 != 6)
        return 0;
    if (frame[NETLOOM_IP + 6] == 17)
        return netloom_get(frame + NETLOOM_IP + 46);
    if (frame[NETLOOM_IP + 6] != 6 || frame + NETLOOM_IP + 60 > end)
        return 0;
    return netloom_get(frame + NETLOOM_IP + 56);
}

static inline enum netloom_did netloom_v6_send(uint8_t *frame, const uint8_t *end, uint32_t mask, uint8_t congested)
{
    uint16_t id = netloom_v6_id(frame, end);
    uint8_t before;
    if (id == 0)
        return NETLOOM_NOT_OURS;
    before = netloom_v6_class(frame);
    if (before != 0 && !netloom_ds_is_tag(before))
        return NETLOOM_DS_IN_USE;
    netloom_v6_put(frame, netloom_ds_byte(netloom_send(id, mask, congested)));
    return NETLOOM_SAMPLED;
}

static inline enum netloom_did netloom_v6_found(
    const uint8_t *frame, const uint8_t *end, uint32_t *id, struct netloom_tag *tag)
{
    *id = netloom_v6_id(frame, end);
    if (*id == 0 || !netloom_ds_is_tag(netloom_v6_class(frame)))
        return NETLOOM_NOT_OURS;
    *tag = netloom_ds_tag(netloom_v6_class(frame));
    return NETLOOM_SAMPLED;
}

static inline enum netloom_did netloom_v6_forward(
    uint8_t *frame, const uint8_t *end, uint32_t mask, uint8_t congested, uint16_t draw)
{
    struct netloom_tag tag = {0, 0, 0};
    uint32_t id;
    enum netloom_did did = netloom_v6_found(frame, end, &id, &tag);
    if (did != NETLOOM_SAMPLED)
        return did;
    if (draw < netloom_threshold(tag.hops))
        did = NETLOOM_REPLACED;
    netloom_forward(&tag, id, mask, congested, draw, NETLOOM_DS_MOST);
    netloom_v6_put(frame, netloom_ds_byte(tag));
    return did;
}

/* Takes the tag off a packet that has one. */
static inline void netloom_v6_clear(uint8_t *frame)
{
    netloom_v6_put(frame, 0);
}

/* -- shim: id (32 bits), version 1 and hops (4 each), 000000 B C, "nl": eight bytes behind UDP ------------------- */

static inline enum netloom_did netloom_shim_there(const uint8_t *frame, const uint8_t *end)
{
    enum netloom_did did = netloom_udp_to(frame, end, NETLOOM_SHIM_PORT, 8);
    if (did == NETLOOM_SAMPLED && netloom_get(frame + NETLOOM_SHIM + 6) != NETLOOM_SHIM_LETTERS)
        return NETLOOM_NOT_OURS;
    return did == NETLOOM_SAMPLED ? netloom_unless_fragment(frame) : did;
}

static inline int netloom_shim_is_tag(uint16_t said)
{
    return said >> 12 == 1 && (said & 0x0F00) != 0 && (said & 0xFC) == 0;
}

static inline struct netloom_tag netloom_shim_tag(uint16_t said)
{
    struct netloom_tag tag;
    tag.hops = (uint8_t)(said >> 8 & 15);
    tag.bit = (uint8_t)(said >> 1 & 1);
    tag.congested = (uint8_t)(said & 1);
    return tag;
}

static inline uint32_t netloom_shim_id(const uint8_t *frame)
{
    return (uint32_t)netloom_get(frame + NETLOOM_SHIM) << 16 | netloom_get(frame + NETLOOM_SHIM + 2);
}

static inline void netloom_shim_put_id(uint8_t *frame, uint32_t id)
{
    netloom_put_udp(frame, frame + NETLOOM_SHIM, (uint16_t)(id >> 16));
    netloom_put_udp(frame, frame + NETLOOM_SHIM + 2, (uint16_t)id);
}

static inline void netloom_shim_put(uint8_t *frame, struct netloom_tag tag)
{
    uint16_t said = (uint16_t)(0x1000 | tag.hops << 8 | tag.bit << 1 | (tag.congested ? 1 : 0));
    netloom_put_udp(frame, frame + NETLOOM_SHIM + 4, said);
}

static inline enum netloom_did netloom_shim_send(
    uint8_t *frame, const uint8_t *end, uint32_t id, uint32_t mask, uint8_t congested)
{
    enum netloom_did did = netloom_shim_there(frame, end);
    uint16_t said;
    if (did != NETLOOM_SAMPLED)
        return did;
    said = netloom_get(frame + NETLOOM_SHIM + 4);
    if ((said != 0 || netloom_shim_id(frame) != 0) && !netloom_shim_is_tag(said))
        return NETLOOM_DS_IN_USE;
    netloom_shim_put_id(frame, id);
    netloom_shim_put(frame, netloom_send(id, mask, congested));
    return NETLOOM_SAMPLED;
}

static inline enum netloom_did netloom_shim_found(
    const uint8_t *frame, const uint8_t *end, uint32_t *id, struct netloom_tag *tag)
{
    enum netloom_did did = netloom_shim_there(frame, end);
    if (did != NETLOOM_SAMPLED)
        return did;
    if (!netloom_shim_is_tag(netloom_get(frame + NETLOOM_SHIM + 4)))
        return NETLOOM_NOT_OURS;
    *tag = netloom_shim_tag(netloom_get(frame + NETLOOM_SHIM + 4));
    *id = netloom_shim_id(frame);
    return did;
}

static inline enum netloom_did netloom_shim_forward(
    uint8_t *frame, const uint8_t *end, uint32_t mask, uint8_t congested, uint16_t draw)
{
    struct netloom_tag tag = {0, 0, 0};
    uint32_t id;
    enum netloom_did did = netloom_shim_found(frame, end, &id, &tag);
    if (did != NETLOOM_SAMPLED)
        return did;
    if (draw < netloom_threshold(tag.hops))
        did = NETLOOM_REPLACED;
    netloom_forward(&tag, id, mask, congested, draw, NETLOOM_DS_MOST);
    netloom_shim_put(frame, tag);
    return did;
}

/* Takes the tag off a packet that has one, and the id too. */
static inline void netloom_shim_clear(uint8_t *frame)
{
    netloom_put_udp(frame, frame + NETLOOM_SHIM + 4, 0);
    netloom_shim_put_id(frame, 0);
}

/* -- bth: E HHH B C beside FECN and BECN, hops less one; id from destination QP and PSN --------------------------- */

static inline struct netloom_tag netloom_bth_tag(uint8_t bits)
{
    struct netloom_tag tag;
    tag.hops = (uint8_t)((bits >> 2 & 7) + 1);
    tag.bit = (uint8_t)(bits >> 1 & 1);
    tag.congested = (uint8_t)(bits & 1);
    return tag;
}

/* A mix that is not linear over GF(2): PSNs count up. The last steps of MurmurHash3. */
static inline uint32_t netloom_bth_id(const uint8_t *frame)
{
    uint32_t pair = (uint32_t)frame[NETLOOM_BTH + 5] << 16 | netloom_get(frame + NETLOOM_BTH + 6);
    uint32_t psn = (uint32_t)frame[NETLOOM_BTH + 9] << 16 | netloom_get(frame + NETLOOM_BTH + 10);
    uint32_t id = pair * UINT32_C(0x9E3779B1) + psn;
    id = (id ^ id >> 16) * UINT32_C(0x85EBCA6B);
    id = (id ^ id >> 13) * UINT32_C(0xC2B2AE35);
    return id ^ id >> 16;
}

static inline void netloom_bth_put(uint8_t *frame, uint8_t bits)
{
    uint8_t all = (uint8_t)((frame[NETLOOM_BTH + 4] & 0xC0) | bits);
    netloom_put_udp(frame, frame + NETLOOM_BTH + 4, (uint16_t)(all << 8 | frame[NETLOOM_BTH + 5]));
}

static inline uint8_t netloom_bth_bits(struct netloom_tag tag)
{
    return (uint8_t)(0x20 | (tag.hops - 1) << 2 | tag.bit << 1 | (tag.congested ? 1 : 0));
}

static inline enum netloom_did netloom_bth_there(const uint8_t *frame, const uint8_t *end)
{
    enum netloom_did did = netloom_udp_to(frame, end, NETLOOM_ROCE_PORT, 12);
    return did == NETLOOM_SAMPLED ? netloom_unless_fragment(frame) : did;
}

static inline enum netloom_did netloom_bth_send(uint8_t *frame, const uint8_t *end, uint32_t mask, uint8_t congested)
{
    enum netloom_did did = netloom_bth_there(frame, end);
    if (did != NETLOOM_SAMPLED)
        return did;
    if ((frame[NETLOOM_BTH + 4] & 0x3F) != 0 && (frame[NETLOOM_BTH + 4] & 0x20) == 0)
        return NETLOOM_DS_IN_USE;
    netloom_bth_put(frame, netloom_bth_bits(netloom_send(netloom_bth_id(frame), mask, congested)));
    return did;
}

static inline enum netloom_did netloom_bth_found(
    const uint8_t *frame, const uint8_t *end, uint32_t *id, struct netloom_tag *tag)
{
    enum netloom_did did = netloom_bth_there(frame, end);
    if (did != NETLOOM_SAMPLED)
        return did;
    if ((frame[NETLOOM_BTH + 4] & 0x20) == 0)
        return NETLOOM_NOT_OURS;
    *tag = netloom_bth_tag(frame[NETLOOM_BTH + 4]);
    *id = netloom_bth_id(frame);
    return did;
}

static inline enum netloom_did netloom_bth_forward(
    uint8_t *frame, const uint8_t *end, uint32_t mask, uint8_t congested, uint16_t draw)
{
    struct netloom_tag tag = {0, 0, 0};
    uint32_t id;
    enum netloom_did did = netloom_bth_found(frame, end, &id, &tag);
    if (did != NETLOOM_SAMPLED)
        return did;
    if (draw < netloom_threshold(tag.hops))
        did = NETLOOM_REPLACED;
    netloom_forward(&tag, id, mask, congested, draw, NETLOOM_BTH_MOST);
    netloom_bth_put(frame, netloom_bth_bits(tag));
    return did;
}

/* Takes the tag off a packet that has one; FECN and BECN stay. */
static inline void netloom_bth_clear(uint8_t *frame)
{
    netloom_bth_put(frame, 0);
}

#endif
