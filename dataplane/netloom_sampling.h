/* Path sampling inside packets: the steps of an adapter and of a switch.
 *
 * Portable C99, header only: no allocation, no floating point, no library. A packet carries six bits (struct
 * netloom_tag, with hops of three or four bits), or a whole link (struct netloom_whole_tag). crates/sampling has
 * the same steps in Rust, and a test holds both to the same packets.
 *
 * The bit is a hash of packet and link: `gf` by a mask a port (netloom_mask, netloom_send, netloom_forward), or
 * `siphash` by the link's number (netloom_siphash, netloom_send_bit, netloom_forward_bit). MD5 is in Rust alone.
 *
 * Source: Taffet, dissertation, Algorithms 1, 2, 4, 5 and sec. 2.5.2.
 */
#ifndef NETLOOM_SAMPLING_H
#define NETLOOM_SAMPLING_H

#ifdef __bpf__ /* The kernel's types: a C library's headers are for another machine. */
#include <linux/types.h>
typedef __u8 uint8_t;
typedef __u16 uint16_t;
typedef __u32 uint32_t;
typedef __u64 uint64_t;
#define UINT32_C(number) number##U
#define UINT64_C(number) number##ULL
#else
#include <stdint.h>
#endif

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

/* The key of `siphash` that is used unless one is given: bytes 00 01 ... 0f, the lowest first. */
#define NETLOOM_KEY_LOW UINT64_C(0x0706050403020100)
#define NETLOOM_KEY_HIGH UINT64_C(0x0F0E0D0C0B0A0908)

static inline uint64_t netloom_rotate(uint64_t word, unsigned bits)
{
    return (word << bits) | (word >> (64u - bits));
}

static inline void netloom_sip_rounds(uint64_t v[4], int rounds)
{
    for (; rounds > 0; rounds--) {
        v[0] += v[1];
        v[2] += v[3];
        v[1] = netloom_rotate(v[1], 13) ^ v[0];
        v[3] = netloom_rotate(v[3], 16) ^ v[2];
        v[0] = netloom_rotate(v[0], 32);
        v[2] += v[1];
        v[0] += v[3];
        v[1] = netloom_rotate(v[1], 17) ^ v[2];
        v[3] = netloom_rotate(v[3], 21) ^ v[0];
        v[2] = netloom_rotate(v[2], 32);
    }
}

/* Four bytes, the highest first, as SipHash reads them: the lowest first. */
static inline uint64_t netloom_turned(uint32_t word)
{
    return (word >> 24) | (word >> 8 & UINT32_C(0xFF00)) | (word << 8 & UINT32_C(0xFF0000)) | (word << 24);
}

/* The lowest bit of SipHash-2-4 of packet id and link number, four bytes each, the highest first. */
static inline uint8_t netloom_siphash(uint64_t key_low, uint64_t key_high, uint32_t id, uint32_t number)
{
    uint64_t v[4], word = netloom_turned(id) | netloom_turned(number) << 32, length = UINT64_C(8) << 56;
    v[0] = key_low ^ UINT64_C(0x736F6D6570736575);
    v[1] = key_high ^ UINT64_C(0x646F72616E646F6D);
    v[2] = key_low ^ UINT64_C(0x6C7967656E657261);
    v[3] = key_high ^ UINT64_C(0x7465646279746573);
    v[3] ^= word;
    netloom_sip_rounds(v, 2);
    v[0] ^= word;
    v[3] ^= length;
    netloom_sip_rounds(v, 2);
    v[0] ^= length;
    v[2] ^= 0xFF;
    netloom_sip_rounds(v, 4);
    return (uint8_t)((v[0] ^ v[1] ^ v[2] ^ v[3]) & 1u);
}

/* A draw of 16 bits below this replaces what a packet of 1 to 32 hops has. */
static inline uint16_t netloom_threshold(uint8_t hops)
{
    static const uint16_t of[33] = {
        65535, 32768, 21845, 16384, 13107, 10922, 9362, 8192, 7281, 6553, 5957, 5461, 5041, 4681, 4369, 4096, 3855,
        3640,  3449,  3276,  3120,  2978,  2849,  2730, 2621, 2520, 2427, 2340, 2259, 2184, 2114, 2048, 1985};
    return of[hops <= 32 ? hops : 32];
}

/* An adapter sends a packet over its link, whose hash is `bit` (Algorithm 4). */
static inline struct netloom_tag netloom_send_bit(uint8_t bit, uint8_t congested)
{
    struct netloom_tag tag;
    tag.bit = bit;
    tag.congested = congested;
    tag.hops = 1;
    return tag;
}

/* The same with the port's mask. */
static inline struct netloom_tag netloom_send(uint32_t id, uint32_t mask, uint8_t congested)
{
    return netloom_send_bit(netloom_parity(id & mask), congested);
}

/* A switch forwards it over a link whose hash is `bit` (Algorithm 5); `draw` are 16 random bits, `most` is the
 * largest hop count: 8 for three bits. */
static inline void netloom_forward_bit(
    struct netloom_tag *tag, uint8_t bit, uint8_t congested, uint16_t draw, uint8_t most)
{
    uint8_t replaces = (uint8_t)(draw < netloom_threshold(tag->hops));
    tag->bit = replaces ? bit : tag->bit;
    tag->congested = replaces ? congested : tag->congested;
    tag->hops = (uint8_t)(tag->hops + (tag->hops < most));
}

/* The same with the port's mask. */
static inline void netloom_forward(
    struct netloom_tag *tag, uint32_t id, uint32_t mask, uint8_t congested, uint16_t draw, uint8_t most)
{
    netloom_forward_bit(tag, netloom_parity(id & mask), congested, draw, most);
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
