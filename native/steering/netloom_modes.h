/* The routing mode of the next message from what the adapter counted of the last: Algorithm 1 of De Sensi, Di Girolamo,
 * Hoefler, SC 2019, sec. 4.2. For a library that sends on a Cray XC: call netloom_modes_select before a message, and
 * netloom_modes_sample with its mode and what the counters say of it, if `counts` was set.
 *
 * Portable C99, header only: no allocation, no library. crates/sim/src/mode/published.rs has the same steps in Rust, in the
 * same order, and a test holds both to the same decisions; so compile without contraction of floating point
 * (-std=c99, or -ffp-contract=off).
 */
#ifndef NETLOOM_MODES_H
#define NETLOOM_MODES_H

#include <stdint.h>

/* Messages are added up, and a mode is decided on only when the sum is above this. */
#define NETLOOM_MODES_THRESHOLD_BYTES UINT64_C(4096)
/* What the other mode showed is used for so many samples. */
#define NETLOOM_MODES_FRESH_SAMPLES UINT32_C(5)
/* L of ADAPTIVE_0 over that of ADAPTIVE_3, and s of ADAPTIVE_3 over that of ADAPTIVE_0, where only one is known. */
#define NETLOOM_MODES_LATENCY_RATIO 1.2
#define NETLOOM_MODES_STALL_RATIO 5.0

/* As in ADAPTIVE_0, ADAPTIVE_1 (all-to-all's ADAPTIVE_0) and ADAPTIVE_3. */
enum netloom_mode { NETLOOM_ADAPTIVE_0 = 0, NETLOOM_ADAPTIVE_1 = 1, NETLOOM_ADAPTIVE_3 = 3 };

struct netloom_modes_sample {
    double latency; /* mean cycles from a packet to its response, L */
    double stalls;  /* stalled cycles a flit, s */
};

/* A sender's state. */
struct netloom_modes {
    uint32_t packet_bytes, header_bytes, window; /* payload and header of a packet, packets without a response */
    uint64_t sum_bytes;
    uint32_t high_bias, samples;
    struct netloom_modes_sample seen[2]; /* without a bias, with a high one */
    uint32_t number[2], is_seen[2];
};

/* A sender on Aries: "we assume that the application starts by using Adaptive routing". */
static inline struct netloom_modes netloom_modes_start(void)
{
    struct netloom_modes start = {64, 16, 1024, 0, 0, 0, {{0.0, 0.0}, {0.0, 0.0}}, {0, 0}, {0, 0}};
    return start;
}

/* What a mode that shows `sample` is expected to take for a message, cycles (eq. 2). The data of a GET come with the responses. */
static inline double netloom_modes_cycles(uint64_t packets, uint64_t flits, int is_get, uint32_t window, struct netloom_modes_sample sample)
{
    uint64_t windows = packets > 0 ? (packets - 1) / (window > 0 ? window : 1) : 0;
    double alpha = (is_get ? 1.0 : 0.5) + (double)windows;
    double waits = alpha * sample.latency;
    double leaves = (double)flits * (sample.stalls + 1.0);
    return waits + leaves;
}

/* The mode of the next message, a PUT or a GET; `counts`: whether to tell what came of it. */
static inline enum netloom_mode netloom_modes_select(struct netloom_modes *state, uint64_t bytes, int is_get, int all_to_all, int *counts)
{
    uint64_t sum = state->sum_bytes + bytes;
    state->sum_bytes = sum < bytes ? UINT64_MAX : sum;
    *counts = state->sum_bytes > NETLOOM_MODES_THRESHOLD_BYTES;
    if (!*counts)
        return NETLOOM_ADAPTIVE_3;
    state->sum_bytes = 0;
    if (state->is_seen[state->high_bias]) {
        uint64_t payload = state->packet_bytes, header = state->header_bytes;
        uint64_t whole = bytes / payload, rest = bytes % payload;
        uint64_t packets = whole + (rest > 0);
        uint64_t flits = whole * ((payload + header + 15) / 16) + (rest > 0 ? (rest + header + 15) / 16 : 0);
        uint32_t here = state->high_bias, there = 1 - here;
        struct netloom_modes_sample own = state->seen[here], other = state->seen[there];
        if (is_get)
            flits = packets; /* a request of one flit for each */
        if (!state->is_seen[there] || state->samples - state->number[there] > NETLOOM_MODES_FRESH_SAMPLES) {
            other.latency = here ? own.latency * NETLOOM_MODES_LATENCY_RATIO : own.latency / NETLOOM_MODES_LATENCY_RATIO;
            other.stalls = here ? own.stalls / NETLOOM_MODES_STALL_RATIO : own.stalls * NETLOOM_MODES_STALL_RATIO;
        }
        if (netloom_modes_cycles(packets, flits, is_get, state->window, other) < netloom_modes_cycles(packets, flits, is_get, state->window, own))
            state->high_bias = there;
    }
    if (state->high_bias)
        return NETLOOM_ADAPTIVE_3;
    return all_to_all ? NETLOOM_ADAPTIVE_1 : NETLOOM_ADAPTIVE_0;
}

/* What was counted of a message that had a mode. */
static inline void netloom_modes_sample(struct netloom_modes *state, enum netloom_mode mode, double latency, double stalls)
{
    uint32_t at = mode == NETLOOM_ADAPTIVE_3;
    state->samples++;
    state->seen[at].latency = latency;
    state->seen[at].stalls = stalls;
    state->number[at] = state->samples;
    state->is_seen[at] = 1;
}

#endif
