//! Numbers and names of any kind, from a seed.

/// SplitMix64 (Steele, Lea, Flood 2014): the state is the seed, so a failing case is one number.
#[derive(Clone, Debug)]
pub struct Draw(pub u64);

impl Draw {
    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    /// Less than `n`.
    pub fn below(&mut self, n: u64) -> u64 {
        self.bits() % n
    }
    /// Yes or no.
    pub fn some(&mut self) -> bool {
        self.below(2) == 0
    }
    /// All magnitudes alike, and the ends.
    pub fn number(&mut self) -> u64 {
        match self.below(8) {
            0 => 0,
            1 => u64::MAX,
            _ => self.bits() >> self.below(64),
        }
    }
    /// Such a number, or none.
    pub fn maybe(&mut self) -> Option<u64> {
        self.some().then(|| self.number())
    }
    /// Any finite number.
    pub fn float(&mut self) -> f64 {
        let drawn = f64::from_bits(self.bits());
        if drawn.is_finite() { drawn } else { 0.1 }
    }
    /// One of these.
    pub fn pick<T: Clone>(&mut self, of: &[T]) -> T {
        of[self.below(of.len() as u64) as usize].clone()
    }
    /// A name that hurts.
    pub fn text(&mut self) -> String {
        const TEXTS: [&str; 14] = [
            "",
            "sda",
            "nvme0n1",
            "a,b",
            "say \"x\"",
            "two\nlines",
            "ends\r",
            "a:b:c",
            "é ü 测试",
            "-",
            " x ",
            "../../etc",
            "EIO",
            "=1+1",
        ];
        self.pick(&TEXTS).to_owned()
    }
    /// Such a name, or none.
    pub fn maybe_text(&mut self) -> Option<String> {
        self.some().then(|| self.text())
    }
    /// Up to so many of something.
    pub fn list<T>(&mut self, most: u64, mut item: impl FnMut(&mut Self) -> T) -> Vec<T> {
        (0..self.below(most + 1)).map(|_| item(self)).collect()
    }
}
