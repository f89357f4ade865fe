"""`netloom study hashes`: figure 2.10 of the dissertation."""

from __future__ import annotations

import hashlib

import pytest

from netloom.errors import ArgumentError
from netloom.studies import hashes

MODULUS, G = 0x8D, 0xB5E4DC75


def test_the_field_has_what_section_2_5_2_proves_and_shows():
    # 2 times the element of the leading bit is the modulus: x x^31 = x^32.
    assert hashes.product(2, 1 << 31, MODULUS) == MODULUS
    inverse = 1
    for _ in range(32):
        # g^(2^32 - 2): the bits of the exponent are ones but for the last.
        inverse = hashes.product(inverse, inverse, MODULUS)
        inverse = hashes.product(inverse, G, MODULUS) if _ < 31 else inverse
    assert hashes.product(inverse, G, MODULUS) == 1
    # "H(id, 1/g) is id's leading bit".
    for packet in (0, 1, 1 << 31, 0xDEADBEEF):
        of = hashes.product(packet, G, MODULUS)
        assert hashes.product(of, inverse, MODULUS) >> 31 == packet >> 31


def test_the_bit_is_linear_in_the_link_and_md5_is_not():
    field = hashes.bits(f"{MODULUS:#x},{G:#x}", 0x12345678).bits
    md5 = hashes.bits("md5", 0x12345678).bits
    pairs = [(one, two) for one in range(1, 100) for two in range(one + 1, 512)]
    assert all(field[one - 1] ^ field[two - 1] == field[(one ^ two) - 1] for one, two in pairs)
    assert not all(md5[one - 1] ^ md5[two - 1] == md5[(one ^ two) - 1] for one, two in pairs)
    digest = hashlib.md5(bytes.fromhex("12345678") + (7).to_bytes(4, "big")).digest()
    assert md5[6] == digest[15] % 2


def test_both_are_fair_and_one_repeats(netloom):
    result = netloom.result("study", "hashes")
    field, md5 = result["hashes"]
    assert len(field["bits"]) == result["links"] == 1024
    for one in (field, md5):
        assert abs(one["ones"] - 512) < 4 * 16
    assert field["like_first_row_percent"] > 95 > 65 > md5["like_first_row_percent"]
    text = netloom.ok("study", "hashes", "md5", "gf")
    assert len(text.splitlines()) == 3 + 32 + 1 + 3
    assert netloom.result("study", "hashes", "--seed", "1")["packet"] != result["packet"]


def test_a_hash_that_is_none_is_refused(netloom):
    assert "sha1" in netloom.refused("study", "hashes", "sha1")
    assert "expected gf, md5 or MODULUS,G" in netloom.refused("study", "hashes", "siphash")
    with pytest.raises(ArgumentError):
        hashes.bits("sha1", 1)
