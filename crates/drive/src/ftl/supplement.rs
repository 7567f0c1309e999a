//! Supplement of a snapshot: what a drive has beyond its snapshot after it has run, as numbers of 32 bits.

/// Numbers of a supplement that have not been read.
pub struct Supplement<'a> {
    left: std::slice::Iter<'a, u32>,
}

impl<'a> Supplement<'a> {
    /// Reads `numbers` from the first on.
    pub fn new(numbers: &'a [u32]) -> Supplement<'a> {
        Supplement { left: numbers.iter() }
    }

    /// The next number; `what` names it in messages.
    pub(super) fn next(&mut self, what: &str) -> Result<u32, String> {
        self.left.next().copied().ok_or_else(|| format!("its supplement ends before {what}"))
    }

    /// The next number, which is at most `most`.
    pub(super) fn at_most(&mut self, most: u32, what: &str) -> Result<u32, String> {
        let number = self.next(what)?;
        if number <= most { Ok(number) } else { Err(format!("{what}: {number}; legal: at most {most}")) }
    }

    /// Checks that nothing is left.
    pub fn end(&self) -> Result<(), String> {
        match self.left.len() {
            0 => Ok(()),
            left => Err(format!("its supplement has {left} numbers too many")),
        }
    }
}
