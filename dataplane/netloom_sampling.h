/* Path sampling inside packets: the steps of an adapter and of a switch.
 *
 * Portable C99, header only: no allocation, no floating point, no library. A packet carries six bits (struct
 * netloom_tag, with hops of three or four bits), or a whole link (struct netloom_whole_tag). crates/sampling has
 * the same steps in Rust, and a test holds both to the same packets.
 *
 * Source: Taffet, dissertation, Algorithms 1, 2, 4, 5 and sec. 2.5.2.
 */
#ifndef NETLOOM_SAMPLING_H
#define NETLOOM_SAMPLING_H

#include <stdint.h>

/* x^32 + x^7 + x^3 + x^2 + 1, without its leading term; and a factor with few long runs of ones. */
#define NETLOOM_MODULUS UINT32_C(0x8D)
#define NETLOOM_FACTOR UINT32_C(0x127BE738)

struct netloom_tag {
    uint8_t bit;       /* of a hash of packet and link */
    uint8_t congested; /* whether that link was */
    uint8_t hops;      /* links so far, from 1; on the wire one less */
};

struct netloom_whole_tag {
    uint32_t link;
    uint8_t congested;
    uint8_t hops;
};

static inline uint32_t netloom_product(uint32_t modulus, uint32_t a, uint32_t b)
{
    uint32_t sum = 0;
    for (; b != 0; b >>= 1) {
        sum ^= a & (0u - (b & 1u));
        a = (a << 1) ^ (modulus & (0u - (a >> 31)));
    }
    return sum;
}

/* What a switch keeps for a port: made once from the link's number. */
static inline uint32_t netloom_mask(uint32_t modulus, uint32_t factor, uint32_t number)
{
    uint32_t product = netloom_product(modulus, number, factor), mask = 0;
    int bit;
    for (bit = 0; bit < 32; bit++) {
        mask |= (product >> 31) << bit;
        product = netloom_product(modulus, product, 2);
    }
    return mask;
}

static inline uint8_t netloom_parity(uint32_t bits)
{
    bits ^= bits >> 16;
    bits ^= bits >> 8;
    bits ^= bits >> 4;
    return (uint8_t)((UINT32_C(0x6996) >> (bits & 15u)) & 1u);
}

/* A draw of 16 bits below this replaces what a packet of 1 to 32 hops has. */
static inline uint16_t netloom_threshold(uint8_t hops)
{
    static const uint16_t of[33] = {
        65535, 32768, 21845, 16384, 13107, 10922, 9362, 8192, 7281, 6553, 5957, 5461, 5041, 4681, 4369, 4096, 3855,
        3640,  3449,  3276,  3120,  2978,  2849,  2730, 2621, 2520, 2427, 2340, 2259, 2184, 2114, 2048, 1985};
    return of[hops <= 32 ? hops : 32];
}

/* An adapter sends packet `id` over its link (Algorithm 4). */
static inline struct netloom_tag netloom_send(uint32_t id, uint32_t mask, uint8_t congested)
{
    struct netloom_tag tag;
    tag.bit = netloom_parity(id & mask);
    tag.congested = congested;
    tag.hops = 1;
    return tag;
}

/* A switch forwards it (Algorithm 5); `draw` are 16 random bits, `most` is the largest hop count: 8 for three bits. */
static inline void netloom_forward(
    struct netloom_tag *tag, uint32_t id, uint32_t mask, uint8_t congested, uint16_t draw, uint8_t most)
{
    uint8_t bit = netloom_parity(id & mask);
    uint8_t replaces = (uint8_t)(draw < netloom_threshold(tag->hops));
    tag->bit = replaces ? bit : tag->bit;
    tag->congested = replaces ? congested : tag->congested;
    tag->hops = (uint8_t)(tag->hops + (tag->hops < most));
}

/* The same with a whole link (Algorithms 1 and 2). */
static inline struct netloom_whole_tag netloom_send_whole(uint32_t link, uint8_t congested)
{
    struct netloom_whole_tag tag;
    tag.link = link;
    tag.congested = congested;
    tag.hops = 1;
    return tag;
}

static inline void netloom_forward_whole(
    struct netloom_whole_tag *tag, uint32_t link, uint8_t congested, uint16_t draw, uint8_t most)
{
    uint8_t replaces = (uint8_t)(draw < netloom_threshold(tag->hops));
    tag->link = replaces ? link : tag->link;
    tag->congested = replaces ? congested : tag->congested;
    tag->hops = (uint8_t)(tag->hops + (tag->hops < most));
}

#endif
