//! The registers of each architecture against arrays, operation by operation.

use crate::vector::portable::Part;
use crate::vector::{
    Float16, Float32, Float64, Int8, Int16, Int32, Int64, Kind, Lanes, Register, spread, spread_four, zip,
};

/// The most registers of a group, and the most bytes of one.
const GROUP: usize = 4;
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

/// A register as the array of its parts.
unsafe fn parts<V: Register>(register: V) -> Vec<[u8; 16]> {
    let mut bytes = [0; BYTES];
    register.store(bytes.as_mut_ptr());
    bytes[..V::BYTES].chunks_exact(16).map(|part| part.try_into().expect("16 bytes")).collect()
}

/// Holds registers to arrays of as many bytes.
unsafe fn agree<K: Kind, V: Lanes<K>>()
where
    Part: Lanes<K>,
{
    let mut random = Random(K::SIZE as u64);
    let count = V::BYTES / 16;
    let arrays =
        |bytes: &[u8; BYTES]| -> Vec<Part> { (0..count).map(|at| Part::load(bytes[16 * at..].as_ptr())).collect() };
    let out = |all: Vec<Part>| -> Vec<[u8; 16]> { all.into_iter().flat_map(|part| parts(part)).collect() };
    for _ in 0..200 {
        let all: [[u8; BYTES]; GROUP] = std::array::from_fn(|_| random.bytes::<K>());
        let flip = V::splat::<8>(0);
        let narrow = Part::splat::<8>(0);
        let registers = all.map(|bytes| V::load(bytes.as_ptr()).lanes(flip));
        let expected = all.map(|bytes| arrays(&bytes).into_iter().map(|part| part.lanes(narrow)).collect::<Vec<_>>());
        let [a, b, ..] = registers;
        let [x, y, ..] = &expected;
        let each = |of: fn(Part, Part) -> Part| out(x.iter().zip(y).map(|(&x, &y)| of(x, y)).collect());
        assert_eq!(parts(a), out(x.clone()));
        assert_eq!(parts(a.xor(b)), each(|x, y| x.xor(y)));
        assert_eq!(parts(a.larger(b)), each(|x, y| Lanes::<K>::larger(x, y)));
        assert_eq!(parts(zip::<K, V>(a, b).0), each(|x, y| zip::<K, Part>(x, y).0));
        assert_eq!(parts(zip::<K, V>(a, b).1), each(|x, y| zip::<K, Part>(x, y).1));
        let table = std::array::from_fn(|_| random.next() as u8 % 16);
        let shuffled = x.iter().map(|part| part.shuffle(&table)).collect();
        assert_eq!(parts(a.shuffle(&table)), out(shuffled));
        let (mut best, mut place) = (a, registers[2]);
        b.take(registers[3], &mut best, &mut place);
        let (mut bests, mut places) = (x.clone(), expected[2].clone());
        for at in 0..count {
            Lanes::<K>::take(y[at], expected[3][at], &mut bests[at], &mut places[at]);
        }
        assert_eq!((parts(best), parts(place)), (out(bests), out(places)));

        // The largest of all lanes, and where it lies.
        let largest = |row: &Vec<Part>| {
            row.iter().copied().reduce(|x, y| Lanes::<K>::larger(x, y)).map(|best| spread::<K, Part>(best))
        };
        let largest: Vec<[u8; 16]> =
            expected.iter().flat_map(|row| vec![parts(largest(row).expect("a part"))[0]; count]).collect();
        let alone: Vec<[u8; 16]> = registers.iter().flat_map(|&row| parts(spread::<K, V>(row))).collect();
        let four: Vec<[u8; 16]> = spread_four::<K, V>(registers).into_iter().flat_map(|row| parts(row)).collect();
        assert_eq!((&alone, &four), (&largest, &largest));
        let lanes = 16 / K::SIZE;
        for used in 1..=V::GROUP.min(GROUP) {
            let sought = spread::<K, V>(registers[random.next() as usize % used]);
            let one = Part::load(parts(sought)[0].as_ptr());
            let word = V::hits(&registers[..used], sought);
            let parts = expected[..used].iter().flatten();
            let hits = parts.flat_map(|&part| {
                let hits = Lanes::<K>::hits(&[part], one);
                (0..lanes).map(move |lane| hits >> lane & 1)
            });
            for (lane, hit) in hits.enumerate() {
                let mask = u64::MAX >> (64 - V::BITS);
                let found = word >> (lane * V::BITS) & mask;
                assert_eq!(found, if hit == 1 { mask } else { 0 }, "lane {lane} of {used} registers");
            }
            let meets = registers[..used].iter().any(|&register| register.meets(sought));
            assert_eq!(meets, word != 0);
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
            use crate::isa::InstructionSet::{Avx2, Sse42};
            if Sse42.is_available() {
                all::<std::arch::x86_64::__m128i>();
            }
            if Avx2.is_available() {
                all::<std::arch::x86_64::__m256i>();
            }
        }
    }
}
