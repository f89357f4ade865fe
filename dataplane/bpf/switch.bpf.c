/* A switch's port (tc egress): replaces a tag's link by its own with probability 1 / (hops + 1), as figure 2.12 has it.
 *
 * Source: Taffet, dissertation, sec. 2.6.1 (figure 2.12), Algorithm 5.
 */
#include "netloom_bpf.h"

SEC("tc")
int netloom_switch(struct __sk_buff *context)
{
    uint8_t congested = 0;
    uint16_t draw;
    enum netloom_did did;
    NETLOOM_BEGIN(context)
    did = netloom_ds_found(ip);
    if (did != NETLOOM_SAMPLED) {
        netloom_count(counts, did, 0);
        return TC_ACT_UNSPEC;
    }
    if (context->gso_segs > 1) {
        counts->segments++;
        return TC_ACT_UNSPEC;
    }
    draw = (uint16_t)netloom_random(port);
    if (draw < netloom_threshold(netloom_ds_tag(ip->ds).hops))
        congested = netloom_congested(context, port);
    netloom_count(counts, netloom_ds_forward(ip, port->mask, congested, draw), congested);
    return TC_ACT_UNSPEC;
}
