//! What /proc and /sys tell, under an injected root.

pub mod facts;
