/* A host's sender (tc egress): puts a random id and the first tag into packets, as figure 2.11 has it.
 *
 * Source: Taffet, dissertation, sec. 2.6.1 (figure 2.11), Algorithm 4.
 */
#include "netloom_bpf.h"

SEC("tc")
int netloom_sender(struct __sk_buff *context)
{
    uint32_t random;
    uint8_t congested;
    struct netloom_before before;
    enum netloom_did did;
    NETLOOM_BEGIN(context)
    if (context->gso_segs > 1) { /* All pieces would carry one draw. */
        counts->segments++;
        return TC_ACT_UNSPEC;
    }
    random = netloom_random(port);
    if ((random >> 16) >= port->rate)
        return TC_ACT_UNSPEC;
    congested = netloom_congested(context, port);
    before = netloom_look(frame, end);
    did = netloom_step_send(frame, end, port, NETLOOM_LAYOUT == NETLOOM_LAYOUT_SHIM ? netloom_random(port) : random,
                            congested);
    if (did == NETLOOM_SAMPLED) {
        netloom_sums(context, frame, end, &before);
        counts->congested += congested;
    }
    netloom_count(counts, did, 0);
    return TC_ACT_UNSPEC;
}
