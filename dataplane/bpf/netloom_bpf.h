/* What the three BPF programs share: a port's settings, its counts, and finding the header.
 *
 * One object is loaded for every port, so a port's settings are the only entry of a map. `netloom dataplane` compiles
 * the programs where they are used: nothing is shipped built. No packet that is not ours changes; all verdicts let
 * other filters go on.
 *
 * Source: Linux, include/uapi/linux/bpf.h, pkt_cls.h.
 */
#ifndef NETLOOM_BPF_H
#define NETLOOM_BPF_H

#include <linux/bpf.h>
#include <linux/pkt_cls.h>

#include <bpf/bpf_helpers.h>

#include "netloom_layouts.h"

/* Set by netloom dataplane; layout of python/netloom/dataplane/programs.py. */
struct netloom_port {
    uint32_t mask;
    uint32_t queue_bytes; /* a queue of so many bytes is congested; all ones: never */
    uint32_t rate;        /* of 65,536 packets so many are sampled (sender) */
    uint32_t keep;        /* whether the receiver leaves the tag in the packet */
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

/* The IPv4 header behind Ethernet's, if both are there whole; frames with VLAN tags inside have none. */
static __always_inline struct netloom_ipv4 *netloom_header(struct __sk_buff *context)
{
    uint8_t *frame = (void *)(long)context->data, *end = (void *)(long)context->data_end;
    if (frame + 14 + sizeof(struct netloom_ipv4) > end || frame[12] != 8 || frame[13] != 0)
        return 0;
    return (struct netloom_ipv4 *)(frame + 14);
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
    struct netloom_ipv4 *ip = netloom_header(context);                                                                \
    if (!port || !counts)                                                                                             \
        return TC_ACT_UNSPEC;                                                                                         \
    if (!ip) {                                                                                                        \
        counts->not_ours++;                                                                                           \
        return TC_ACT_UNSPEC;                                                                                         \
    }

char netloom_license[] SEC("license") = "Dual MIT/GPL";

#endif
