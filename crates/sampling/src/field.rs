//! Products in GF(2^32), and the hash of one bit that they make.
//!
//! `H(id, d)` is the leading bit of `id d g`. The product is linear in either factor, so for a link it is the parity of `id` under a mask
//! (which a switch makes once a port), and for a packet the parity of `d` under a *vector*: one bit for every bit of `d`. That is
//! what makes all links' estimates one transform ([`crate::decoder`]).
//!
//! Links whose numbers differ are told apart only if the masks of the numbers' bits are linearly independent over the bits that packets'
//! ids have. With 32 bits they always are; with 16 some pairs of modulus and `g` are not, and [`Hash::new`] refuses them. Ids must not be
//! sequential either: a few runs of ones would decide everything.
//!
//! Source: Taffet, dissertation, sec. 2.5.2. The modulus is not given there; both are primitive.

use crate::SamplingError;

/// What products are reduced by, without its leading x^32.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Modulus(pub u32);

impl Modulus {
    /// x^32 + x^7 + x^3 + x^2 + 1, the one of the smallest number.
    pub const SMALLEST: Self = Self(0x8D);
    /// x^32 + x^7 + x^6 + x^2 + 1.
    pub const OTHER: Self = Self(0xC5);

    /// Whether products make a field: x^32 and the rest have no divisor (Rabin's test).
    pub fn is_field(self) -> bool {
        let power = |squares: u32| (0..squares).fold(2, |x, _| product(self, x, x));
        power(32) == 2 && divisor(1 << 32 | u64::from(self.0), (power(16) ^ 2).into()) == 1
    }
}

/// A `g` of the source with fewer long runs of ones.
pub const FEWER_RUNS: u32 = 0x127B_E738;
/// The source's own `g`.
pub const OF_THE_SOURCE: u32 = 0xB5E4_DC75;

/// `a b` in the field.
pub fn product(modulus: Modulus, mut a: u32, mut b: u32) -> u32 {
    let mut sum = 0;
    while b != 0 {
        if b & 1 != 0 {
            sum ^= a;
        }
        b >>= 1;
        a = a << 1 ^ if a >> 31 != 0 { modulus.0 } else { 0 };
    }
    sum
}

/// The greatest common divisor of two polynomials over GF(2).
fn divisor(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        while a.leading_zeros() <= b.leading_zeros() && a != 0 {
            a ^= b << (b.leading_zeros() - a.leading_zeros());
        }
        (a, b) = (b, a);
    }
    a
}

/// Whether a number has an odd count of ones.
#[inline]
pub fn parity(mut bits: u32) -> bool {
    bits ^= bits >> 16;
    bits ^= bits >> 8;
    bits ^= bits >> 4;
    0x6996 >> (bits & 15) & 1 != 0
}

/// `[byte of id][its value]`: what it adds to the vector.
pub(crate) type Vectors<T = u32> = [[T; 256]; 4];

/// The hash for link numbers of so many bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hash {
    modulus: Modulus,
    g: u32,
    bits: u32,
    id_bits: u32,
    /// `[bit]`: the mask of the number that has this bit alone.
    masks: Vec<u32>,
    vectors: Box<Vectors>,
}

impl Hash {
    /// For numbers below `2^bits` and packets' ids below `2^id_bits`.
    ///
    /// # Errors
    /// [`SamplingError::NoField`] for a modulus that can be divided, [`SamplingError::Dependent`] if there are more bits than 32, or some
    /// numbers would look alike.
    pub fn new(modulus: Modulus, g: u32, bits: u32, id_bits: u32) -> Result<Self, SamplingError> {
        if !modulus.is_field() {
            return Err(SamplingError::NoField { modulus: modulus.0 });
        }
        let used = u32::MAX.checked_shr(32 - id_bits.min(32)).unwrap_or(0);
        let of_bit = |k| mask(modulus, product(modulus, 1u32 << k, g)) & used;
        let masks: Vec<u32> = (0..bits.min(32)).map(of_bit).collect();
        let rank = rank(&masks);
        if rank < bits {
            return Err(SamplingError::Dependent { modulus: modulus.0, g, bits, id_bits, rank });
        }
        let mut vectors = Box::new([[0; 256]; 4]);
        for (byte, table) in vectors.iter_mut().enumerate() {
            for (value, vector) in table.iter_mut().enumerate() {
                let id = (value as u32) << (8 * byte);
                *vector = masks.iter().enumerate().fold(0, |v, (k, m)| v | u32::from(parity(id & m)) << k);
            }
        }
        Ok(Self { modulus, g, bits, id_bits, masks, vectors })
    }

    /// The pair that suits compact numbers, and ids of 32 bits.
    ///
    /// # Errors
    /// [`SamplingError::Dependent`] if the numbers have too many bits for it.
    pub fn standard(bits: u32) -> Result<Self, SamplingError> {
        Self::new(Modulus::SMALLEST, FEWER_RUNS, bits, 32)
    }

    /// Of numbers.
    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// Of packets' ids.
    pub fn id_bits(&self) -> u32 {
        self.id_bits
    }

    /// Modulus and `g`.
    pub fn constants(&self) -> (Modulus, u32) {
        (self.modulus, self.g)
    }

    /// What a switch keeps for a port: `H(id, number)` is the parity of `id` under it.
    pub fn mask(&self, number: u32) -> u32 {
        let bits = self.masks.iter().enumerate();
        bits.filter(|(k, _)| number >> k & 1 != 0).fold(0, |mask, (_, one)| mask ^ one)
    }

    /// `H(id, number)`.
    pub fn bit(&self, id: u32, number: u32) -> bool {
        parity(id & self.mask(number))
    }

    /// What vectors are made of.
    pub(crate) fn vectors(&self) -> &Vectors {
        &self.vectors
    }

    /// What a packet says of all numbers: `H(id, number)` is the parity of `number` under it.
    #[inline]
    pub fn vector(&self, id: u32) -> u32 {
        let [a, b, c, d] = id.to_le_bytes().map(usize::from);
        self.vectors[0][a] ^ self.vectors[1][b] ^ self.vectors[2][c] ^ self.vectors[3][d]
    }
}

/// The mask under which an id's parity is the leading bit of `id factor`.
pub(crate) fn mask(modulus: Modulus, mut factor: u32) -> u32 {
    let mut mask = 0;
    for bit in 0..32 {
        mask |= (factor >> 31) << bit;
        factor = product(modulus, factor, 2);
    }
    mask
}

/// How many of them are linearly independent.
fn rank(masks: &[u32]) -> u32 {
    let mut basis = [0u32; 32];
    for &mask in masks {
        let mut rest = mask;
        while rest != 0 {
            let top = 31 - rest.leading_zeros() as usize;
            if basis[top] == 0 {
                basis[top] = rest;
                break;
            }
            rest ^= basis[top];
        }
    }
    basis.iter().filter(|&&row| row != 0).count() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_those_of_polynomials() {
        let m = Modulus::SMALLEST;
        // x^31 x = x^32 = x^7 + x^3 + x^2 + 1.
        assert_eq!(product(m, 1 << 31, 2), 0x8D);
        assert_eq!(product(m, 3, 3), 5);
        for (a, b, c) in [(0xB5E4_DC75, 0x1234_5678, 0xFFFF_0001), (7, 0x8000_0000, 0xDEAD_BEEF)] {
            assert_eq!(product(m, a, b), product(m, b, a));
            assert_eq!(product(m, product(m, a, b), c), product(m, a, product(m, b, c)));
            assert_eq!(product(m, a, b ^ c), product(m, a, b) ^ product(m, a, c));
        }
    }

    /// x^32 + 1 is (x + 1)^32, x^32 + x is divided by x; x^32 + x^2 + 1 is (x^16 + x + 1)^2.
    #[test]
    fn moduli_that_can_be_divided_make_no_field() {
        assert!([0x8D, 0xC5, 0xAF, 0x4C11DB7].map(|m| Modulus(m).is_field()) == [true, true, true, true]);
        assert!([0, 1, 2, 5, 0x8F, 0x8C].map(|m| Modulus(m).is_field()) == [false; 6]);
        let error = Hash::new(Modulus(1), 1, 8, 32).unwrap_err();
        assert!(error.to_string().contains("x^32 + 0x1 can be divided"), "{error}");
    }

    #[test]
    fn masks_and_vectors_are_the_same_hash() {
        let hash = Hash::standard(14).unwrap();
        let (modulus, g) = hash.constants();
        for id in (0..2000u32).map(|i| i.wrapping_mul(0x9e37_79b9)) {
            let vector = hash.vector(id);
            for number in [1, 2, 3, 77, 8191, 16383] {
                let leading = product(modulus, product(modulus, id, number), g) >> 31 != 0;
                assert_eq!(parity(id & hash.mask(number)), leading);
                assert_eq!(parity(number & vector), leading);
            }
        }
    }

    /// The source's g with the smallest modulus takes half of 16,384 numbers for others if ids have 16 bits.
    #[test]
    fn constants_under_which_numbers_look_alike_are_refused() {
        let error = Hash::new(Modulus::SMALLEST, OF_THE_SOURCE, 14, 16).unwrap_err();
        assert!(error.to_string().contains("only 13 of 14"), "{error}");
        for (modulus, g) in [(Modulus::SMALLEST, FEWER_RUNS), (Modulus::OTHER, OF_THE_SOURCE)] {
            assert!(Hash::new(modulus, g, 14, 16).is_ok());
        }
        assert!(Hash::new(Modulus::SMALLEST, OF_THE_SOURCE, 32, 32).is_ok());
        assert!(Hash::new(Modulus::SMALLEST, FEWER_RUNS, 14, 13).is_err());
        assert!(Hash::standard(33).is_err());
    }
}
