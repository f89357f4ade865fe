//! The functions that can make the one bit of packet id and link number, by name.
//!
//! What is asked of `H(id, d)` (sec. 2.5.2): for a link `d` and the links `d'` that packets kept instead, agreement of `H(id, d)` with
//! `H(id, d')` is a fair coin, and coins of different packets are independent.
//!
//! | name | what | coins | a switch |
//! |---|---|---|---|
//! | `gf`, or `MODULUS,G` | the leading bit of `id d g` in GF(2^32) | fair; independent only if ids are random | one AND and a parity |
//! | `md5` | the last bit of MD5(id, d) | as good as independent | no: 64 steps, each with the last one's result |
//! | `siphash`, or `siphash:KEY` | the last bit of SipHash-2-4 of id and d | the same, and nobody without the key predicts them | 8 rounds of additions and rotations |
//!
//! `id` and `d` are four bytes each, the highest first; MD5's last bit is the lowest one of its last byte, that is `MD5(id || d) mod 2`.
//! Only the first is linear, so only its sums are one transform ([`crate::decoder`]); the others are decoded link by link
//! ([`crate::direct`]).
//!
//! Source: Taffet, dissertation, sec. 2.5.2, which names the first two and asks for *a true pseudo-random function*; Aumasson and
//! Bernstein, SipHash, 2012, is one that is cheap for eight bytes.

use std::fmt::{self, Display, Formatter};
use std::hash::Hasher as _;
use std::str::FromStr;

use md5::{Digest, Md5};
use siphasher::sip::SipHasher24;
use thiserror::Error;

use crate::field::{FEWER_RUNS, Modulus, mask, parity, product};

/// Which function it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HashFunction {
    /// The source's `H_GF`.
    Field {
        /// Of the field.
        modulus: Modulus,
        /// The factor; with none (1) small link numbers have long runs of ones.
        g: u32,
    },
    /// The source's example of what is pseudo-random.
    Md5,
    /// One that is pseudo-random, keyed, and cheap.
    SipHash {
        /// Secret or not.
        key: [u8; 16],
    },
}

/// The key unless one is given: that of the function's own test vectors, 00 01 ... 0f.
pub const KEY: [u8; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];

/// A name of no function.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error(
    "hash {0}: expected MODULUS,G of 32 bits each, as in 0x8d,0x127be738, gf, md5, siphash, or siphash:KEY of 32 hexadecimal digits"
)]
pub struct UnknownHash(pub String);

impl HashFunction {
    /// `H_GF` with the constants that suit compact numbers.
    pub const STANDARD: Self = Self::Field { modulus: Modulus::SMALLEST, g: FEWER_RUNS };

    /// Its name without constants.
    pub fn name(self) -> &'static str {
        match self {
            Self::Field { .. } => "gf",
            Self::Md5 => "md5",
            Self::SipHash { .. } => "siphash",
        }
    }

    /// What a switch keeps for a port with such a link: a mask if there is one, else the number.
    pub fn port(self, number: u32) -> u32 {
        match self {
            Self::Field { modulus, g } => mask(modulus, product(modulus, number, g)),
            Self::Md5 | Self::SipHash { .. } => number,
        }
    }

    /// `H(id, d)`, of what is kept for the port.
    #[inline]
    pub fn bit(self, id: u32, port: u32) -> bool {
        match self {
            Self::Field { .. } => parity(id & port),
            Self::Md5 => Md5::digest(message(id, port))[15] & 1 != 0,
            Self::SipHash { key } => {
                let mut hasher = SipHasher24::new_with_key(&key);
                hasher.write(&message(id, port));
                hasher.finish() & 1 != 0
            }
        }
    }
}

impl FromStr for HashFunction {
    type Err = UnknownHash;

    fn from_str(text: &str) -> Result<Self, UnknownHash> {
        let refused = || UnknownHash(text.to_owned());
        match text {
            "gf" => return Ok(Self::STANDARD),
            "md5" => return Ok(Self::Md5),
            "siphash" => return Ok(Self::SipHash { key: KEY }),
            _ => {}
        }
        if let Some(digits) = text.strip_prefix("siphash:") {
            let plain = digits.len() == 32 && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
            let key = u128::from_str_radix(digits, 16).ok().filter(|_| plain).ok_or_else(refused)?;
            return Ok(Self::SipHash { key: key.to_be_bytes() });
        }
        let (modulus, g) = text.split_once(',').ok_or_else(refused)?;
        let (modulus, g) = number(modulus).zip(number(g)).filter(|&(_, g)| g != 0).ok_or_else(refused)?;
        Ok(Self::Field { modulus: Modulus(modulus), g })
    }
}

impl Display for HashFunction {
    /// As it is read again.
    fn fmt(&self, to: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Field { modulus: Modulus(modulus), g } => write!(to, "{modulus:#x},{g:#x}"),
            Self::Md5 => to.write_str("md5"),
            Self::SipHash { key } => write!(to, "siphash:{:032x}", u128::from_be_bytes(*key)),
        }
    }
}

/// A number of 32 bits, decimal or hexadecimal.
fn number(text: &str) -> Option<u32> {
    let text = text.trim();
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) if !digits.starts_with('+') => u32::from_str_radix(digits, 16).ok(),
        Some(_) => None,
        None => text.parse().ok().filter(|_| !text.starts_with('+')),
    }
}

fn message(id: u32, number: u32) -> [u8; 8] {
    (u64::from(id) << 32 | u64::from(number)).to_be_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `int(hashlib.md5(struct.pack(">II", id, d)).hexdigest(), 16) % 2`, of Python.
    #[test]
    fn md5_is_that_of_the_standard_library_elsewhere() {
        let bits = |id: u32| (0..16).map(|d| u8::from(HashFunction::Md5.bit(id, d))).collect::<Vec<_>>();
        assert_eq!(bits(0), MD5_OF_0);
        assert_eq!(bits(0xDEAD_BEEF), MD5_OF_DEADBEEF);
    }

    /// The function's own test vector of bytes 0 to 7 is 0x93f5f5799a932462 (reference implementation).
    #[test]
    fn siphash_is_the_reference_implementations() {
        let siphash = HashFunction::SipHash { key: KEY };
        let mut hasher = SipHasher24::new_with_key(&KEY);
        hasher.write(&message(0x0001_0203, 0x0405_0607));
        assert_eq!(hasher.finish(), 0x93f5_f579_9a93_2462);
        assert!(!siphash.bit(0x0001_0203, 0x0405_0607));
        let other = HashFunction::SipHash { key: [7; 16] };
        assert!((0..64).any(|id| siphash.bit(id, 1) != other.bit(id, 1)));
    }

    const MD5_OF_0: [u8; 16] = [0, 1, 0, 0, 0, 1, 1, 0, 0, 1, 0, 1, 1, 1, 0, 1];
    const MD5_OF_DEADBEEF: [u8; 16] = [1, 1, 0, 0, 1, 1, 1, 1, 1, 1, 0, 1, 0, 0, 0, 0];

    #[test]
    fn names_are_read_as_they_are_written() {
        for text in ["0x8d,0x127be738", "0xc5,0xb5e4dc75", "md5", "siphash:0123456789abcdef0123456789abcdef"]
        {
            assert_eq!(text.parse::<HashFunction>().unwrap().to_string(), text);
        }
        assert_eq!("gf".parse(), Ok(HashFunction::STANDARD));
        assert_eq!("141, 0x127BE738".parse(), Ok(HashFunction::STANDARD));
        assert_eq!("siphash".parse(), Ok(HashFunction::SipHash { key: KEY }));
        for text in
            ["", "sha1", "MD5", "1", "0x8d,0", "0x8d,0x1ffffffff", "+1,1", "1,2,3", "siphash:12", "siphash:"]
        {
            assert_eq!(text.parse::<HashFunction>(), Err(UnknownHash(text.into())));
        }
    }
}
