//! States of experiments that older programs wrote.

mod state;
