//! pread and pwrite in a pool of threads, one a slot of the depth: what serves where io_uring is missing or forbidden.
//!
//! Each slot's thread is lent the slot's buffer together with the operation and gives both back with the result, over
//! bounded channels that are allocated beforehand. The hand-over costs two wake-ups an operation, which the run's record
//! names, since it shows in latencies of fast devices.

use super::calls::FileCalls;
use super::one_call::{Calls, check};
use super::{pool_feature, worker_usage};
use crate::{Completion, Device, DeviceError};
use model::{Ns, WorkerUsage};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;
use sys::{BufferPool, Epoch, ThreadUsage, thread_usage};
use workload::{BlockOp, Request as _};

enum Request<Op> {
    Carry(Op, BufferPool),
    Usage,
}

enum Answer {
    Carried(Completion, BufferPool),
    Usage(ThreadUsage),
}

#[derive(Debug)]
struct Slot<Op> {
    requests: SyncSender<Request<Op>>,
    buffer: Option<BufferPool>,
    thread: JoinHandle<()>,
}

/// A pool of threads that make calls.
#[derive(Debug)]
pub struct ThreadPool<Op> {
    epoch: Epoch,
    slots: Vec<Slot<Op>>,
    answers: Receiver<Answer>,
    in_flight: usize,
    buffer_bytes: usize,
    features: Vec<String>,
    missing: Vec<String>,
    /// How long a wait lasts at most.
    longest_wait_ns: Ns,
}

/// pread and pwrite of blocks.
pub type PsyncThreads = ThreadPool<BlockOp>;

impl PsyncThreads {
    /// A thread for each buffer over an open file. `why` goes into the run's record: the
    /// reason for which io_uring does not serve.
    ///
    /// # Errors
    /// If the threads cannot be had.
    pub fn new(
        epoch: Epoch,
        calls: impl Into<FileCalls>,
        pool: BufferPool,
        why: Option<String>,
    ) -> Result<Self, DeviceError> {
        Self::with_calls(epoch, calls.into(), pool, why)
    }
}

impl<Op: workload::Request + Send + 'static> ThreadPool<Op> {
    /// A thread for each buffer, by these calls.
    pub(crate) fn with_calls(
        epoch: Epoch,
        calls: impl Calls<Op = Op> + Send + Sync + 'static,
        pool: BufferPool,
        why: Option<String>,
    ) -> Result<Self, DeviceError> {
        let (depth, buffer_bytes) = (pool.count(), pool.buffer_bytes());
        let features = std::iter::once(format!("{depth} threads")).chain(pool_feature(&pool)).collect();
        let missing = why.into_iter().chain(pool.missing().map(str::to_owned)).collect();
        let calls = Arc::new(calls);
        let (answer, answers) = sync_channel(depth as usize);
        let mut slots = Vec::with_capacity(depth as usize);
        for (index, buffer) in pool.split().into_iter().enumerate() {
            let (requests, inbox) = sync_channel(1);
            let calls = Arc::clone(&calls);
            let answer = answer.clone();
            let thread = std::thread::Builder::new()
                .name(format!("io-{index}"))
                // The thread's frame holds no data: buffers are lent to it.
                .stack_size(128 * 1024)
                .spawn(move || serve(epoch, &*calls, &inbox, &answer))
                .map_err(|source| DeviceError::NoThread { purpose: format!("I/O at depth {depth}"), source })?;
            slots.push(Slot { requests, buffer: Some(buffer), thread });
        }
        Ok(Self { epoch, slots, answers, in_flight: 0, buffer_bytes, features, missing, longest_wait_ns: Ns::MAX })
    }

    /// With short waits: for a source that others bring something to, which no thread here can hear of.
    pub fn with_short_waits(mut self) -> Self {
        self.longest_wait_ns = 2_000_000;
        self
    }

    fn take(&mut self, answer: Answer, out: &mut Vec<Completion>) {
        // Usage is asked for, and answered, only with nothing in flight.
        if let Answer::Carried(completion, buffer) = answer {
            self.slots[completion.buffer as usize].buffer = Some(buffer);
            self.in_flight -= 1;
            out.push(completion);
        }
    }
}

/// A thread's life: carry out what arrives until the device is dropped.
fn serve<C: Calls>(epoch: Epoch, calls: &C, inbox: &Receiver<Request<C::Op>>, answer: &SyncSender<Answer>) {
    while let Ok(request) = inbox.recv() {
        let answered = match request {
            Request::Carry(op, mut buffer) => {
                let result = calls.execute(&op, buffer.buffer_mut(0));
                let completion = Completion { buffer: op.buffer(), result, at_ns: epoch.elapsed_ns() };
                answer.send(Answer::Carried(completion, buffer))
            }
            Request::Usage => answer.send(Answer::Usage(thread_usage())),
        };
        if answered.is_err() {
            return;
        }
    }
}

fn workers_gone() -> DeviceError {
    DeviceError::Call { call: "hand-over to an I/O thread", source: std::io::Error::other("the thread is gone") }
}

impl<Op: workload::Request + Send + 'static> Device for ThreadPool<Op> {
    type Op = Op;

    #[inline]
    fn now(&self) -> Ns {
        self.epoch.elapsed_ns()
    }

    fn buffer(&mut self, index: u32) -> &mut [u8] {
        match &mut self.slots[index as usize].buffer {
            Some(buffer) => buffer.buffer_mut(0),
            None => panic!("buffer {index} is in flight"),
        }
    }

    fn submit(&mut self, ops: &[Op]) -> Result<(), DeviceError> {
        for op in ops {
            check(op, self.slots.len() as u32, self.buffer_bytes)?;
            let slot = &mut self.slots[op.buffer() as usize];
            let Some(buffer) = slot.buffer.take() else {
                return Err(DeviceError::BadOperation(format!("buffer {} is in flight", op.buffer())));
            };
            slot.requests.send(Request::Carry(*op, buffer)).map_err(|_| workers_gone())?;
            self.in_flight += 1;
        }
        Ok(())
    }

    fn reap(&mut self, min: usize, until: Ns, out: &mut Vec<Completion>) -> Result<(), DeviceError> {
        let room = out.capacity() - out.len();
        for taken in 0..room {
            let left = if taken < min { until.saturating_sub(self.now()).min(self.longest_wait_ns) } else { 0 };
            match self.answers.recv_timeout(Duration::from_nanos(left)) {
                Ok(answer) => self.take(answer, out),
                Err(RecvTimeoutError::Timeout) => break,
                Err(RecvTimeoutError::Disconnected) => return Err(workers_gone()),
            }
        }
        Ok(())
    }

    fn into_pool(mut self) -> Option<BufferPool> {
        let parts: Option<Vec<BufferPool>> = self.slots.iter_mut().map(|slot| slot.buffer.take()).collect();
        BufferPool::join(parts?)
    }

    fn features(&self) -> Vec<String> {
        self.features.clone()
    }

    fn missing(&self) -> Vec<String> {
        self.missing.clone()
    }

    fn helper_usage(&mut self) -> WorkerUsage {
        if self.in_flight > 0 {
            // They do not answer now.
            return WorkerUsage::default();
        }
        let mut sum = WorkerUsage::NONE;
        for slot in &self.slots {
            if slot.requests.send(Request::Usage).is_ok()
                && let Ok(Answer::Usage(usage)) = self.answers.recv()
            {
                sum = sum.plus(&worker_usage(usage));
            }
        }
        sum
    }
}

impl<Op> Drop for ThreadPool<Op> {
    fn drop(&mut self) {
        // A thread that hangs in the kernel keeps its buffer and the file until the kernel lets it go; it is not waited
        // for. The others end when their inbox closes.
        for slot in self.slots.drain(..) {
            let idle = slot.buffer.is_some();
            drop(slot.requests);
            if idle {
                // It carries nothing, so it cannot have panicked in an operation that was not answered.
                let _ = slot.thread.join();
            }
        }
    }
}
