//! The registers of each architecture against arrays, operation by operation.

use crate::vector::portable::Part;
use crate::vector::{
    Float16, Float32, Float64, Int8, Int16, Int32, Int64, Kind, Lanes, Register, spread, spread_four, zip,
};

/// The most registers of a group, and the most bytes of one.
const GROUP: usize = 8;
const BYTES: usize = 64;

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        self.0 >> 33
    }

    /// Few different elements, neither NaN nor zero: which of those comes out is nobody's promise.
    fn bytes<K: Kind>(&mut self) -> [u8; BYTES] {
        let mut bytes = [0; BYTES];
        for lane in bytes.chunks_exact_mut(K::SIZE) {
            lane.fill(self.next() as u8 % 3);
            let (low, high) = if cfg!(target_endian = "little") { (0, K::SIZE - 1) } else { (K::SIZE - 1, 0) };
            lane[low] |= 1;
            lane[high] = [0x01, 0x81, 0x3f, 0xbf][self.next() as usize % 4];
        }
        bytes
    }
}

/// The bytes of a register, and zeros.
unsafe fn bytes<V: Register>(register: V) -> [u8; BYTES] {
    let mut bytes = [0; BYTES];
    register.store(bytes.as_mut_ptr());
    bytes
}

/// What works in each part alike.
unsafe fn in_each_part<K: Kind, R: Lanes<K>>([a, b, c, d]: [R; 4], table: &[u8; 16]) -> [R; 10] {
    let (low, high) = zip::<K, R>(a, b);
    let (mut best, mut place) = (a, c);
    b.take(d, &mut best, &mut place);
    [a, a.xor(b), a.smaller(b), a.complement(), a.larger(b), a.shuffle(table), low, high, best, place]
}

/// Holds registers to arrays of as many bytes.
unsafe fn agree<K: Kind, V: Lanes<K>>()
where
    Part: Lanes<K>,
{
    let mut random = Random(K::SIZE as u64);
    for _ in 0..200 {
        let all: [[u8; BYTES]; GROUP] = std::array::from_fn(|_| random.bytes::<K>());
        let table = std::array::from_fn(|_| random.next() as u8 % 16);
        let registers = all.map(|bytes| V::load(bytes.as_ptr()).lanes(V::splat::<8>(0)));
        let parts = |row: &[u8; BYTES]| -> Vec<Part> {
            let part = |part: &[u8]| Part::load(part.as_ptr()).lanes(Part::splat::<8>(0));
            row[..V::BYTES].chunks_exact(16).map(part).collect()
        };
        let parts = all.each_ref().map(parts);
        let found = in_each_part::<K, V>([0, 1, 2, 3].map(|row| registers[row]), &table);
        for at in 0..V::BYTES / 16 {
            let expected = in_each_part::<K, Part>([0, 1, 2, 3].map(|row| parts[row][at]), &table);
            for (operation, (found, expected)) in found.into_iter().zip(expected).enumerate() {
                assert_eq!(bytes(found)[16 * at..][..16], bytes(expected)[..16], "operation {operation}");
            }
        }
        // The largest of all lanes, and where it lies.
        let four = spread_four::<K, V>([0, 1, 2, 3].map(|row| registers[row]));
        for row in 0..GROUP {
            let most = parts[row].iter().copied().reduce(|x, y| Lanes::<K>::larger(x, y)).expect("a part");
            let most = bytes(spread::<K, Part>(most));
            for found in [spread::<K, V>(registers[row]), four[row % 4]].into_iter().take(if row < 4 { 2 } else { 1 }) {
                bytes(found)[..V::BYTES].chunks_exact(16).for_each(|part| assert_eq!(part, &most[..16]));
            }
        }
        for used in 1..=V::GROUP {
            let sought = spread::<K, V>(registers[random.next() as usize % used]);
            let (found, one) = (V::hits(&registers[..used], sought), Part::load(bytes(sought).as_ptr()));
            let hits = parts[..used].iter().flatten().flat_map(|&part| {
                let hits = Lanes::<K>::hits(&[part], one);
                (0..16 / K::SIZE).map(move |lane| hits >> lane & 1)
            });
            for (lane, hit) in hits.enumerate() {
                let mask = u64::MAX >> (64 - V::BITS);
                assert_eq!(found >> (lane * V::BITS) & mask, hit * mask, "lane {lane} of {used} registers");
            }
            assert_eq!(registers[..used].iter().any(|&register| register.meets(sought)), found != 0);
        }
    }
}

/// Holds that one NaN is seen wherever it lies, of either sign, and that nothing else is taken for one.
unsafe fn see<K: Kind, V: Lanes<K>>(infinity: i64, width: usize) {
    let bits = |value: i64| value.to_ne_bytes();
    let top = 1i64.rotate_left(width as u32 - 1);
    let limit = crate::vector::splat::<K, V>(infinity);
    for sign in [0, top] {
        for lane in 0..2 * V::BYTES / K::SIZE {
            for nan in [false, true] {
                let mut bytes = [0u8; 2 * BYTES];
                let value = bits((infinity + i64::from(nan)) | sign);
                let value = if cfg!(target_endian = "little") { &value[..K::SIZE] } else { &value[8 - K::SIZE..] };
                bytes[lane * K::SIZE..][..K::SIZE].copy_from_slice(value);
                let flip = V::splat::<8>(0);
                let (one, other) =
                    (V::load(bytes.as_ptr()).lanes(flip), V::load(bytes[V::BYTES..].as_ptr()).lanes(flip));
                let mut seen = V::unseen();
                V::see(&mut seen, one, other);
                assert_eq!(V::saw_nan(seen, one.larger(other), limit), nan, "lane {lane}, sign {sign:x}");
            }
        }
    }
}

unsafe fn all<V>()
where
    V: Lanes<Int8> + Lanes<Int16> + Lanes<Int32> + Lanes<Int64> + Lanes<Float16> + Lanes<Float32> + Lanes<Float64>,
{
    agree::<Int8, V>();
    agree::<Int16, V>();
    agree::<Int32, V>();
    agree::<Int64, V>();
    agree::<Float16, V>();
    agree::<Float32, V>();
    agree::<Float64, V>();
    see::<Float16, V>(0x7c00, 16);
    see::<Float16, V>(0x7f80, 16);
    see::<Float32, V>(0x7f80_0000, 32);
    see::<Float64, V>(0x7ff0_0000_0000_0000, 64);
}

#[test]
fn registers_do_what_arrays_do() {
    // SAFETY: each set of instructions is asked for first.
    unsafe {
        all::<Part>();
        #[cfg(target_arch = "aarch64")]
        all::<std::arch::aarch64::uint8x16_t>();
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        {
            use crate::isa::InstructionSet::{Avx2, Avx512, Sse42};
            if Sse42.is_available() {
                all::<std::arch::x86_64::__m128i>();
            }
            if Avx2.is_available() {
                all::<std::arch::x86_64::__m256i>();
            }
            if Avx512.is_available() {
                all::<std::arch::x86_64::__m512i>();
            }
        }
    }
}
