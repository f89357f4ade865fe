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
    uint32_t source;  /* as on the wire */
    uint32_t destination;
    uint16_t id;
    uint16_t bytes; /* of the packet, IPv4's header included */
    uint8_t ds;
    uint8_t unused[3];
};

struct {
    __uint(type, BPF_MAP_TYPE_RINGBUF);
    __uint(max_entries, 1 << 22);
} netloom_events SEC(".maps");

SEC("tc")
int netloom_receiver(struct __sk_buff *context)
{
    struct netloom_event *event;
    struct netloom_tag tag;
    enum netloom_did did;
    NETLOOM_BEGIN(context)
    did = netloom_ds_found(ip);
    if (did == NETLOOM_SAMPLED && context->gso_segs > 1) {
        counts->segments++;
        return TC_ACT_UNSPEC;
    }
    if (did == NETLOOM_SAMPLED) {
        event = bpf_ringbuf_reserve(&netloom_events, sizeof(*event), 0);
        if (event) {
            event->time_ns = bpf_ktime_get_ns();
            event->source = ip->source;
            event->destination = ip->destination;
            event->id = netloom_wire(ip->id);
            event->bytes = netloom_wire(ip->total_length);
            event->ds = ip->ds;
            __builtin_memset(event->unused, 0, sizeof(event->unused));
            bpf_ringbuf_submit(event, 0);
        } else {
            counts->lost++;
        }
        if (!port->keep)
            netloom_ds_receive(ip, &tag);
    }
    netloom_count(counts, did, 0);
    return TC_ACT_UNSPEC;
}
