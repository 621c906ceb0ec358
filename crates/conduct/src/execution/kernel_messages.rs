//! What the kernel said while a run went on.

/// The first and the last messages of the kernel: a device that fails for weeks says the same all the time.
#[derive(Default)]
pub(super) struct KernelLines {
    lines: Vec<String>,
    left_out: usize,
}

impl KernelLines {
    /// So many of the first, and up to twice as many of the last.
    const FIRST: usize = 4096;

    fn extend(&mut self, new: impl Iterator<Item = String>) {
        for line in new {
            if self.lines.len() == 3 * Self::FIRST {
                self.lines.drain(Self::FIRST..2 * Self::FIRST);
                self.left_out += Self::FIRST;
            }
            self.lines.push(line);
        }
    }

    pub fn all(&self) -> Vec<String> {
        let mut all = self.lines.clone();
        if self.left_out > 0 {
            all.insert(Self::FIRST, format!("... {} messages left out ...", self.left_out));
        }
        all
    }
}

/// Kernel messages since the run's start, or why there are none.
pub(super) enum KernelLog {
    Open(sys::KernelLog, KernelLines),
    Closed(Option<String>),
}

impl KernelLog {
    pub fn open(simulated: bool) -> Self {
        if simulated {
            return Self::Closed(None);
        }
        match sys::KernelLog::from_now() {
            Ok(log) => Self::Open(log, KernelLines::default()),
            Err(e) => Self::Closed(Some(format!("kernel messages: {e}"))),
        }
    }

    pub fn drain(&mut self) {
        if let Self::Open(log, lines) = self
            && let Ok(messages) = log.drain()
        {
            let text = |m: &sys::KernelMessage| format!("[{:>12.6}] <{}> {}", m.at_us as f64 / 1e6, m.level, m.text);
            lines.extend(messages.iter().map(text));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_kernel_that_never_stops_the_first_and_the_last_words_stay() {
        let mut lines = KernelLines::default();
        lines.extend((0..100_000).map(|n| n.to_string()));
        let all = lines.all();
        assert!(all.len() <= 3 * KernelLines::FIRST + 1, "{}", all.len());
        assert_eq!((all[0].as_str(), all[KernelLines::FIRST - 1].as_str()), ("0", "4095"));
        assert_eq!(all.last().map(String::as_str), Some("99999"));
        assert_eq!(all.len() - 1 + lines.left_out, 100_000);
        assert!(all[KernelLines::FIRST].contains("left out"));
    }
}
