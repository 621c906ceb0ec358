//! Registers and logs that say facts: how one is read, and how each fact is decoded.

use model::{Fact, Layer};

/// How a fact is decoded.
pub type Decode<R> = fn(&R) -> Fact;

/// A register as `R`, of an input `I`: the kernel's text of it, or its bytes; and the facts that it says.
#[derive(Debug)]
pub struct RegisterFacts<I: ?Sized + 'static, R: 'static> {
    /// Reads it; `None` for what is no such register.
    pub read: fn(&I) -> Option<R>,
    /// The name of each fact, and how it is decoded.
    pub rows: &'static [(&'static str, Decode<R>)],
}

impl<I: ?Sized, R> RegisterFacts<I, R> {
    /// Records all its facts, or their absence where the input is missing or no such register.
    pub fn set_on(&self, layer: &mut Layer, input: Option<&I>) {
        let register = input.and_then(self.read);
        for (name, decode) in self.rows {
            layer.set(name, register.as_ref().map_or(Fact::Null, decode));
        }
    }
}
