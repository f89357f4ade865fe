/* What the three BPF programs share: a port's settings, its counts, and finding the header.
 *
 * One object is loaded for every port, so a port's settings are the only entry of a map. `netloom dataplane` compiles
 * the programs where they are used: nothing is shipped built. No packet that is not ours changes; all verdicts let
 * other filters go on. NETLOOM_LAYOUT says where the bits are: one of the numbers below.
 *
 * Source: Linux, include/uapi/linux/bpf.h, pkt_cls.h.
 */
#ifndef NETLOOM_BPF_H
#define NETLOOM_BPF_H

#include <linux/bpf.h>
#include <linux/pkt_cls.h>

#include <bpf/bpf_helpers.h>

#include "netloom_more_layouts.h"

#define NETLOOM_LAYOUT_DS 0
#define NETLOOM_LAYOUT_DS_TTL 1
#define NETLOOM_LAYOUT_IPV6 2
#define NETLOOM_LAYOUT_SHIM 3
#define NETLOOM_LAYOUT_BTH 4
#ifndef NETLOOM_LAYOUT
#define NETLOOM_LAYOUT NETLOOM_LAYOUT_DS
#endif

/* Set by netloom dataplane; layout of python/netloom/dataplane/programs.py. */
struct netloom_port {
    uint32_t mask;
    uint32_t queue_bytes; /* a queue of so many bytes is congested; all ones: never */
    uint32_t rate;        /* of 65,536 packets so many are sampled (sender) */
    uint16_t keep;        /* whether the receiver leaves the tag in the packet */
    uint16_t initial_ttl; /* of packets as hosts send them (layout ds-ttl) */
    uint32_t fixed;       /* whether random numbers are `random`: tests only */
    uint32_t random;
    uint64_t owner;       /* the number of the `netloom dataplane up` that put it there; 0: none */
};

/* Packets by what was done to them. */
struct netloom_counts {
    uint64_t sampled;
    uint64_t replaced;
    uint64_t congested;
    uint64_t not_ours;
    uint64_t fragments;
    uint64_t may_fragment;
    uint64_t ds_in_use;
    uint64_t segments; /* left alone: packets that are still to be cut, or were put together */
    uint64_t lost;     /* received, but nobody had room for them */
};

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, struct netloom_port);
} netloom_port SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, struct netloom_counts);
} netloom_counts SEC(".maps");

/* The part of the kernel's structures that says how long a port's queue is (CO-RE finds the offsets). */
#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct gnet_stats_queue {
    __u32 backlog;
};
struct Qdisc {
    struct gnet_stats_queue qstats;
};
struct net_device {
    struct Qdisc *qdisc;
};
struct sk_buff {
    struct net_device *dev;
};
#pragma clang attribute pop

extern void *bpf_cast_to_kern_ctx(void *) __ksym;

/* Whether the queue that the packet is about to enter is as long as the port's threshold. */
static __always_inline uint8_t netloom_congested(struct __sk_buff *context, const struct netloom_port *port)
{
    struct sk_buff *packet;
    if (port->queue_bytes == 0xFFFFFFFF)
        return 0;
    packet = bpf_cast_to_kern_ctx(context);
    return packet->dev->qdisc->qstats.backlog >= port->queue_bytes;
}

static __always_inline uint32_t netloom_random(const struct netloom_port *port)
{
    return port->fixed ? port->random : bpf_get_prandom_u32();
}

/* A frame of which the layout's first headers are there; frames with VLAN tags inside are none. */
static __always_inline int netloom_is_frame(const uint8_t *frame, const uint8_t *end)
{
    if (frame + NETLOOM_IP + sizeof(struct netloom_ipv4) > end)
        return 0;
    return NETLOOM_LAYOUT == NETLOOM_LAYOUT_IPV6 ? frame[12] == 0x86 && frame[13] == 0xDD : frame[12] == 8 && !frame[13];
}

/* The steps of the layout. */
#define NETLOOM_HEADER(frame) ((struct netloom_ipv4 *)((frame) + NETLOOM_IP))

static __always_inline enum netloom_did netloom_step_send(
    uint8_t *frame, uint8_t *end, const struct netloom_port *port, uint32_t id, uint8_t congested)
{
#if NETLOOM_LAYOUT == NETLOOM_LAYOUT_DS
    return netloom_ds_send(NETLOOM_HEADER(frame), (uint16_t)id, port->mask, congested);
#elif NETLOOM_LAYOUT == NETLOOM_LAYOUT_DS_TTL
    return netloom_ttl_send(
        NETLOOM_HEADER(frame), (uint8_t)port->initial_ttl, (uint16_t)id, port->mask, congested);
#elif NETLOOM_LAYOUT == NETLOOM_LAYOUT_IPV6
    return netloom_v6_send(frame, end, port->mask, congested);
#elif NETLOOM_LAYOUT == NETLOOM_LAYOUT_SHIM
    return netloom_shim_send(frame, end, id, port->mask, congested);
#else
    return netloom_bth_send(frame, end, port->mask, congested);
#endif
}

/* The tag and the id of a packet that is about to leave a switch, or has come to a host (`received`). */
static __always_inline enum netloom_did netloom_step_found(
    uint8_t *frame, uint8_t *end, const struct netloom_port *port, uint8_t received, uint32_t *id,
    struct netloom_tag *tag)
{
#if NETLOOM_LAYOUT == NETLOOM_LAYOUT_DS
    enum netloom_did did = netloom_ds_found(NETLOOM_HEADER(frame));
    *id = netloom_wire(NETLOOM_HEADER(frame)->id);
    *tag = netloom_ds_tag(NETLOOM_HEADER(frame)->ds);
    return did;
#elif NETLOOM_LAYOUT == NETLOOM_LAYOUT_DS_TTL
    *id = netloom_wire(NETLOOM_HEADER(frame)->id);
    return netloom_ttl_found(NETLOOM_HEADER(frame), (uint8_t)port->initial_ttl, received, tag);
#elif NETLOOM_LAYOUT == NETLOOM_LAYOUT_IPV6
    return netloom_v6_found(frame, end, id, tag);
#elif NETLOOM_LAYOUT == NETLOOM_LAYOUT_SHIM
    return netloom_shim_found(frame, end, id, tag);
#else
    return netloom_bth_found(frame, end, id, tag);
#endif
}

static __always_inline enum netloom_did netloom_step_forward(
    uint8_t *frame, uint8_t *end, const struct netloom_port *port, uint8_t congested, uint16_t draw)
{
#if NETLOOM_LAYOUT == NETLOOM_LAYOUT_DS
    return netloom_ds_forward(NETLOOM_HEADER(frame), port->mask, congested, draw);
#elif NETLOOM_LAYOUT == NETLOOM_LAYOUT_DS_TTL
    return netloom_ttl_forward(NETLOOM_HEADER(frame), (uint8_t)port->initial_ttl, port->mask, congested, draw);
#elif NETLOOM_LAYOUT == NETLOOM_LAYOUT_IPV6
    return netloom_v6_forward(frame, end, port->mask, congested, draw);
#elif NETLOOM_LAYOUT == NETLOOM_LAYOUT_SHIM
    return netloom_shim_forward(frame, end, port->mask, congested, draw);
#else
    return netloom_bth_forward(frame, end, port->mask, congested, draw);
#endif
}

static __always_inline void netloom_step_clear(uint8_t *frame)
{
#if NETLOOM_LAYOUT == NETLOOM_LAYOUT_DS
    netloom_put_ds(NETLOOM_HEADER(frame), 0);
#elif NETLOOM_LAYOUT == NETLOOM_LAYOUT_DS_TTL
    netloom_ttl_clear(NETLOOM_HEADER(frame));
#elif NETLOOM_LAYOUT == NETLOOM_LAYOUT_IPV6
    netloom_v6_clear(frame);
#elif NETLOOM_LAYOUT == NETLOOM_LAYOUT_SHIM
    netloom_shim_clear(frame);
#else
    netloom_bth_clear(frame);
#endif
}

/* The kernel's own sums follow the change of a layout's bits. With offload UDP's field holds the sum of the pseudo
 * header alone until the device sums up the rest, so only the kernel knows what a change does to it: the layout's
 * arithmetic is taken back. A device may also have summed up a whole frame that came in (skb->csum). */
#if NETLOOM_LAYOUT == NETLOOM_LAYOUT_SHIM
#define NETLOOM_BITS_AT NETLOOM_SHIM
#define NETLOOM_BITS_SIZE 8
#elif NETLOOM_LAYOUT == NETLOOM_LAYOUT_BTH
#define NETLOOM_BITS_AT (NETLOOM_BTH + 4)
#define NETLOOM_BITS_SIZE 4
#else
#define NETLOOM_BITS_AT NETLOOM_IP
#define NETLOOM_BITS_SIZE 4
#endif
#define NETLOOM_SUM_AT (NETLOOM_UDP + 6)

struct netloom_before {
    uint32_t words[2];
    uint8_t sum[2];
};

static __always_inline int netloom_in_udp(void)
{
    return NETLOOM_LAYOUT == NETLOOM_LAYOUT_SHIM || NETLOOM_LAYOUT == NETLOOM_LAYOUT_BTH;
}

static __always_inline struct netloom_before netloom_look(const uint8_t *frame, const uint8_t *end)
{
    struct netloom_before before = {{0, 0}, {0, 0}};
    if (frame + NETLOOM_BITS_AT + NETLOOM_BITS_SIZE <= end) {
        __builtin_memcpy(before.words, frame + NETLOOM_BITS_AT, NETLOOM_BITS_SIZE);
        if (netloom_in_udp())
            __builtin_memcpy(before.sum, frame + NETLOOM_SUM_AT, 2);
    }
    return before;
}

/* Looks at no byte of the frame afterwards: its place may be another. */
static __always_inline void netloom_sums(
    struct __sk_buff *context, uint8_t *frame, uint8_t *end, struct netloom_before *before)
{
    uint32_t now[2] = {0, 0};
    __s64 change;
    if (NETLOOM_LAYOUT <= NETLOOM_LAYOUT_DS_TTL || frame + NETLOOM_BITS_AT + NETLOOM_BITS_SIZE > end)
        return; /* The header's checksum is in what is summed up, and balances it. */
    __builtin_memcpy(now, frame + NETLOOM_BITS_AT, NETLOOM_BITS_SIZE);
    change = bpf_csum_diff(before->words, NETLOOM_BITS_SIZE, now, NETLOOM_BITS_SIZE, 0);
    if (netloom_in_udp() && (before->sum[0] || before->sum[1])) {
        __builtin_memcpy(frame + NETLOOM_SUM_AT, before->sum, 2);
        bpf_l4_csum_replace(context, NETLOOM_SUM_AT, 0, change, BPF_F_MARK_MANGLED_0);
    } else {
        bpf_csum_update(context, (uint32_t)change);
    }
}

static __always_inline void netloom_count(struct netloom_counts *counts, enum netloom_did did, uint8_t congested)
{
    switch (did) {
    case NETLOOM_REPLACED:
        counts->replaced++;
        counts->congested += congested;
        counts->sampled++;
        break;
    case NETLOOM_SAMPLED:
        counts->sampled++;
        break;
    case NETLOOM_FRAGMENT:
        counts->fragments++;
        break;
    case NETLOOM_MAY_FRAGMENT:
        counts->may_fragment++;
        break;
    case NETLOOM_DS_IN_USE:
        counts->ds_in_use++;
        break;
    default:
        counts->not_ours++;
    }
}

/* The names by which a program finds its port and its counts. */
#define NETLOOM_BEGIN(context)                                                                                        \
    __u32 first = 0;                                                                                                  \
    struct netloom_port *port = bpf_map_lookup_elem(&netloom_port, &first);                                           \
    struct netloom_counts *counts = bpf_map_lookup_elem(&netloom_counts, &first);                                     \
    uint8_t *frame = (void *)(long)context->data, *end = (void *)(long)context->data_end;                             \
    if (!port || !counts)                                                                                             \
        return TC_ACT_UNSPEC;                                                                                         \
    if (!netloom_is_frame(frame, end)) {                                                                              \
        counts->not_ours++;                                                                                           \
        return TC_ACT_UNSPEC;                                                                                         \
    }

char netloom_license[] SEC("license") = "Dual MIT/GPL";

#endif
