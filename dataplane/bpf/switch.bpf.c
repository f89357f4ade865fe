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
    struct netloom_tag tag = {0, 0, 0};
    struct netloom_before before;
    uint32_t id;
    NETLOOM_BEGIN(context)
    did = netloom_step_found(frame, end, port, 0, &id, &tag);
    if (did != NETLOOM_SAMPLED) {
        netloom_count(counts, did, 0);
        return TC_ACT_UNSPEC;
    }
    if (context->gso_segs > 1) {
        counts->segments++;
        return TC_ACT_UNSPEC;
    }
    draw = (uint16_t)netloom_random(port);
    if (draw < netloom_threshold(tag.hops))
        congested = netloom_congested(context, port);
    before = netloom_look(frame, end);
    did = netloom_step_forward(frame, end, port, congested, draw);
    netloom_sums(context, frame, end, &before);
    netloom_count(counts, did, congested);
    return TC_ACT_UNSPEC;
}
