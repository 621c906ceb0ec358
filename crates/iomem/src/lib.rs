//! Copies to and from device memory in accesses of a chosen width.
//!
//! A processor's `memcpy` may use any accesses it likes: bytes, overlapping words, the same word twice. On a device's memory each
//! access is a transaction of a bus, and costs the same whether it carries one byte or sixteen. Bytes over a 32-bit bus are four
//! transactions a word where one would do; a FIFO that is read twice has lost data. These routines say which accesses are made:
//!
//! - in natural alignment on the device's side, as wide as [`AccessRules::widest`] allows, head and tail included;
//! - as few as that allows, in ascending order, each byte exactly once;
//! - nothing outside the region, whatever the alignment of the device, of memory and of the length;
//! - with the barriers of the architecture before and after.
//!
//! ```
//! use iomem::{Mmio, AccessRules, Width, copy_from_io};
//!
//! let mut memory = *b"....flash content.";
//! let mut device = Mmio::of_mut(&mut memory);
//! let mut text = [0; 13];
//! copy_from_io(&mut device, &AccessRules::up_to(Width::B4), 4, &mut text)?;
//! assert_eq!(&text, b"flash content");
//! # Ok::<(), iomem::Error>(())
//! ```
//!
//! # Which rules
//!
//! | the device | rules |
//! |---|---|
//! | memory behind a bus of 32 bit: NOR flash, SRAM | `AccessRules::up_to(Width::B4)` |
//! | takes bytes only: an old UART's buffer, an 8-bit ROM | [`AccessRules::bytes`] |
//! | takes words only: a byte access is an error | [`AccessRules::words`] |
//! | write-combining memory: a frame buffer, a prefetchable BAR | [`AccessRules::burst`], or [`AccessRules::streaming`] on x86 |
//! | its words have the other byte order | [`AccessRules::swapped`] |
//!
//! # Where it can be used
//!
//! `no_std`, no allocation, no C library: in a kernel module, in firmware, in a program that maps a device. A kernel that does not
//! keep vector registers for itself uses widths up to [`Width::WIDEST_GENERAL`]: those, and [`Mode::Plain`], touch general registers
//! alone. Written for x86-64, AArch64, ARMv7 and later, and RISC-V; elsewhere volatile accesses up to a register's width serve.
//!
//! # Invariants
//!
//! - The accesses are made by instructions that are written down (AArch64, ARM, RISC-V: inline assembly without a write-back, which
//!   hypervisors cannot emulate; x86-64: volatile accesses, and assembly for vectors). The compiler can neither merge nor split them,
//!   nor call `memcpy`. The project's checks read the compiler's output for four architectures.
//! - What cannot be done by the rules is an error before the first access, never a part of a copy.
//!
//! Deliberately absent: mapping a device, deciding which widths it takes, interrupts and DMA.
#![no_std]
#![forbid(unsafe_op_in_unsafe_fn)]
#![allow(unsafe_code, reason = "device memory is reached by raw pointers; each block says why it may")]

mod access;
mod barrier;
mod bus;
mod copy;
mod error;
mod loops;
mod mmio;
mod rules;
mod width;

pub use bus::{Access, Bus, Direction};
pub use copy::{copy_from_io, copy_to_io, set_io};
pub use error::Error;
pub use mmio::Mmio;
pub use rules::{AccessRules, Mode, ReadEffect, WordOrder};
pub use width::Width;
