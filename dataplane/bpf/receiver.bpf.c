/* A host's receiver (tc ingress): tells user space of every tag, and takes it off the packet, as figure 2.13 begins.
 *
 * Estimates are made from the events elsewhere: `netloom dataplane collect`, `netloom sample decode`.
 *
 * Source: Taffet, dissertation, sec. 2.6.1 (figure 2.13).
 */
#include "netloom_bpf.h"

/* Layout of python/netloom/dataplane/programs.py. */
struct netloom_event {
    uint64_t time_ns; /* since the machine started */
    uint32_t source;  /* as on the wire; of IPv6 the last four bytes */
    uint32_t destination;
    uint32_t id;
    uint16_t bytes; /* of the packet, the header of IP included */
    uint8_t hops;
    uint8_t bits; /* the hash bit, and twice whether it was congested */
};

struct {
    __uint(type, BPF_MAP_TYPE_RINGBUF);
    __uint(max_entries, 1 << 22);
} netloom_events SEC(".maps");

SEC("tc")
int netloom_receiver(struct __sk_buff *context)
{
    struct netloom_event *event;
    struct netloom_tag tag = {0, 0, 0};
    struct netloom_before before;
    uint32_t id;
    enum netloom_did did;
    NETLOOM_BEGIN(context)
    did = netloom_step_found(frame, end, port, 1, &id, &tag);
    if (did == NETLOOM_SAMPLED && context->gso_segs > 1) {
        counts->segments++;
        return TC_ACT_UNSPEC;
    }
    if (did == NETLOOM_SAMPLED) {
        event = bpf_ringbuf_reserve(&netloom_events, sizeof(*event), 0);
        if (event) {
            event->time_ns = bpf_ktime_get_ns();
#if NETLOOM_LAYOUT == NETLOOM_LAYOUT_IPV6 /* The layout has looked at 48 bytes of IPv6. */
            if (frame + NETLOOM_IP + 48 <= end) {
                event->source = *(uint32_t *)(frame + NETLOOM_IP + 20);
                event->destination = *(uint32_t *)(frame + NETLOOM_IP + 36);
                event->bytes = (uint16_t)(netloom_get(frame + NETLOOM_IP + 4) + 40);
            }
#else
            event->source = NETLOOM_HEADER(frame)->source;
            event->destination = NETLOOM_HEADER(frame)->destination;
            event->bytes = netloom_wire(NETLOOM_HEADER(frame)->total_length);
#endif
            event->id = id;
            event->hops = tag.hops;
            event->bits = (uint8_t)(tag.bit | tag.congested << 1);
            bpf_ringbuf_submit(event, 0);
        } else {
            counts->lost++;
        }
        if (!port->keep) {
            before = netloom_look(frame, end);
            netloom_step_clear(frame);
            netloom_sums(context, frame, end, &before);
        }
    }
    netloom_count(counts, did, 0);
    return TC_ACT_UNSPEC;
}
