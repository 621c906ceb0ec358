//! What the simulated machine does with its page cache: copies, dirty pages and their writeback, read-ahead, residency.

use super::machine::{Lane, Machine, Traffic};
use model::Ns;

impl Machine {
    /// CPU time of one call that copies `len` bytes to or from the page cache.
    pub(super) fn call_ns(&self, len: u64) -> Ns {
        let host = &self.model.host;
        self.stretched(host.cpu_per_command_ns as f64 + self.copy_ns(len))
    }

    fn copy_ns(&self, len: u64) -> f64 {
        len as f64 * 1e9 / self.model.host.page_cache_bytes_per_s as f64
    }

    /// A command of the machine itself: when it ends.
    pub(super) fn internal(&mut self, lane: Lane, write: bool, offset: u64, len: u64, at: Ns) -> Ns {
        let end = self.command(lane, write, offset, len, at);
        let traffic = if write { Traffic::Write } else { Traffic::Read };
        self.schedule(end, traffic, at, len, None);
        end
    }

    /// Writes one piece of the oldest waiting extent; whether there was one.
    fn write_back_one(&mut self, lane: Lane, at: Ns) -> bool {
        let Some((offset, len)) = self.pages.waiting.pop_front() else { return false };
        let piece = len.min(self.model.host.writeback_bytes);
        if piece < len {
            self.pages.waiting.push_front((offset + piece, len - piece));
        }
        self.pages.waiting_bytes -= piece;
        let end = self.internal(lane, true, offset, piece, at);
        self.pages.under_way.push_back((end, piece));
        true
    }

    /// Forgets finished writeback and starts more while too much waits.
    fn pump(&mut self, at: Ns) {
        while let Some((_, bytes)) = self.pages.under_way.front().copied().filter(|(end, _)| *end <= at) {
            self.pages.under_way.pop_front();
            self.pages.dirty -= bytes;
        }
        while self.pages.waiting_bytes > self.model.host.dirty_background_bytes {
            self.write_back_one(Lane::Writeback, at);
        }
    }

    /// A write to a file of its own and its fdatasync, which leaves alone what else is dirty; returns when it is durable.
    pub(super) fn durable_append(&mut self, offset: u64, len: u64, at: Ns) -> Ns {
        let start = at.max(self.cpu[Lane::Worker as usize].end);
        let copied = self.work_on(Lane::Worker, start, self.call_ns(len));
        let written = self.internal(Lane::Worker, true, offset, len, copied);
        self.flush(written)
    }

    /// A write through the page cache by a thread on this core; returns when the call comes back.
    pub(super) fn buffered_write(&mut self, lane: Lane, offset: u64, len: u64, at: Ns) -> Ns {
        let mut start = at.max(self.cpu[lane as usize].end);
        self.pump(start);
        while self.pages.dirty > 0 && self.pages.dirty + len > self.model.host.dirty_limit_bytes {
            if self.pages.under_way.is_empty() {
                self.write_back_one(Lane::Writeback, start);
            }
            let Some((end, _)) = self.pages.under_way.front().copied() else { break };
            start = start.max(end);
            self.pump(start);
        }
        let end = self.work_on(lane, start, self.call_ns(len));
        let pages = &mut self.pages;
        pages.dirty += len;
        pages.waiting_bytes += len;
        pages.now_resident(offset, offset + len);
        match pages.waiting.back_mut().filter(|(o, l)| o + l == offset) {
            Some(last) => last.1 += len,
            None => pages.waiting.push_back((offset, len)),
        }
        end
    }

    /// Writes all that is dirty and flushes; returns when it is durable.
    pub(super) fn fsync(&mut self, at: Ns) -> Ns {
        let start = at.max(self.cpu[Lane::Worker as usize].end);
        self.pump(start);
        // The caller of fsync submits what waits, on its own CPU.
        while self.write_back_one(Lane::Worker, start) {}
        let written = self.pages.under_way.iter().map(|(end, _)| *end).max().unwrap_or(start);
        self.pages.under_way.clear();
        self.pages.dirty = 0;
        self.flush(written.max(start))
    }

    /// A read through the page cache; returns when the data are in the caller's buffer. The next read-ahead window is
    /// asked for when the reader arrives at a window, as mm/readahead.c does at its marker page.
    pub(super) fn buffered_read(&mut self, offset: u64, len: u64, at: Ns) -> Ns {
        let mut now = at.max(self.cpu[Lane::Worker as usize].end);
        let end = offset + len;
        if self.pages.resident.0 <= offset && end <= self.pages.resident.1 {
            return self.work_on(Lane::Worker, now, self.call_ns(len));
        }
        let sequential = offset == self.pages.expected || offset == 0;
        if !sequential {
            self.pages.windows.clear();
            now = self.internal(Lane::Worker, false, offset, len, now);
            self.pages.expected = end;
            self.pages.asked = end;
            self.pages.now_resident(offset, end);
            return self.work_on(Lane::Worker, now, self.call_ns(len));
        }
        if offset != self.pages.expected {
            self.pages.windows.clear();
            self.pages.asked = offset;
        }
        now = self.work_on(Lane::Worker, now, self.stretched(self.model.host.cpu_per_command_ns as f64));
        let mut position = offset;
        while position < end {
            // Arriving at the first byte of a window asks for the one after it.
            for _ in self.pages.windows.len()..2 {
                now = self.ask_window(now);
            }
            let Some((window_end, ready)) = self.pages.windows.front().copied() else { break };
            let piece = end.min(window_end) - position;
            let copy = self.stretched(self.copy_ns(piece));
            now = self.work_on(Lane::Worker, now.max(ready), copy);
            position += piece;
            if position == window_end {
                self.pages.windows.pop_front();
            }
        }
        self.pages.expected = end;
        self.pages.now_resident(offset, end);
        now.max(at)
    }

    /// Asks for the next window; returns when the reader's CPU has done so.
    fn ask_window(&mut self, at: Ns) -> Ns {
        let start = self.pages.asked;
        let end = (start + self.model.host.read_ahead_bytes).min(self.model.media.capacity_bytes);
        if end <= start {
            return at;
        }
        let ready = self.internal(Lane::Worker, false, start, end - start, at);
        self.pages.asked = end;
        self.pages.windows.push_back((end, ready));
        self.cpu[Lane::Worker as usize].end.max(at)
    }

    /// Drops what is clean from the page cache, as fsync and DONTNEED do; returns the bytes that stay.
    pub(super) fn drop_pages(&mut self) -> u64 {
        self.pages.windows.clear();
        self.pages.expected = u64::MAX;
        self.pages.asked = 0;
        self.pages.resident = (0, self.model.host.resident_bytes);
        self.model.host.resident_bytes
    }
}
