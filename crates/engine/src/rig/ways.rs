//! By which way each stream of a phase goes: through the page cache or past it, by which descriptors, by ring or threads,
//! and how well it is known that "past it" is true.

use super::access::{Direct, is_direct};
use super::direct::{DirectFacts, kernel_version, proof};
use super::file::FileRig;
use super::refusal::{Attempt, refusal};
use super::verify::ReadEvidence;
use super::work::OpenTarget;
use model::{
    DirectProof, EngineKind, Failure, OpenSync, PhasePlan, StreamPlan, TargetKind, VerifyReads, VerifyRecord,
    VerifySource,
};
use std::fs::File;
use std::io;
use std::sync::Arc;
use sys::{DirectAlignment, Durable};

impl FileRig {
    /// How well it is known that a phase that writes, or only reads, goes past the page cache, by one file that stands for all of its kind.
    pub(super) fn direct_proof(&self, write: bool, streams: &[StreamPlan]) -> DirectProof {
        let named = streams.iter().find_map(|s| self.own.of(&s.blocks()?.block.files).next());
        let file = named.map_or(&self.opened.file, |f| f.as_ref());
        let facts = sys::file_facts(file).ok();
        let btrfs = self.options.filesystem.as_deref() == Some("btrfs");
        let end = streams.iter().filter_map(|s| Some(s.blocks()?.block.region_end())).max().unwrap_or(0);
        let length = file.metadata().map_or(0, |m| m.len());
        proof(&DirectFacts {
            kind: self.target.kind,
            write,
            extends: write && self.target.kind == TargetKind::Directory && length < end,
            filesystem: self.options.filesystem.as_deref(),
            mount_options: &self.options.mount_options,
            kernel: self.options.kernel.as_deref().and_then(kernel_version),
            alignment: facts.map_or(DirectAlignment::NotTold, |f| f.direct),
            dax: facts.and_then(|f| f.dax) == Some(true),
            inode: sys::inode_flags(file).ok(),
            written: if self.is_device() || write { None } else { sys::written(file, 0, end).ok() },
            btrfs_redundant: if btrfs { sys::btrfs_data_redundant(file).ok() } else { None },
            loops_below: !self.options.backing_files.is_empty(),
        })
    }

    /// Where the data came from that a phase verified: by its read-back where that is all there is to verify, and by its own
    /// reads, of so many bytes, where they are what was verified. `None` where nothing was.
    pub(super) fn verify_source(
        &self,
        phase: &PhasePlan,
        verify: &VerifyRecord,
        (own, own_bytes): (ReadEvidence, u64),
        back: Option<ReadEvidence>,
    ) -> Option<VerifySource> {
        if verify.blocks_verified == 0 {
            return None;
        }
        let no_device = |name: &&str| matches!(*name, "tmpfs" | "ramfs" | "devtmpfs" | "hugetlbfs");
        let without_device = self.options.filesystem.as_deref().filter(|_| !self.is_device()).filter(no_device);
        let of = |seen: ReadEvidence, bytes: u64| {
            VerifySource::of(&VerifyReads {
                without_device: without_device.map(str::to_owned),
                direct: seen.direct.then(|| self.direct_proof(false, &phase.streams)),
                through_loop: self.options.hidden_backing || !self.options.backing_files.is_empty(),
                resident_pages: seen.resident_pages,
                bytes,
                device_read_bytes: seen.device_read_bytes,
            })
        };
        let back = back.filter(|_| verify.read_back_bytes > 0).map(|seen| of(seen, verify.read_back_bytes));
        // What a stream writes is read back later than it reads it; what the others read is all that they verify.
        let only_reads = |s: &StreamPlan| s.verify.is_some() && s.reads() && s.read_back().is_none();
        let own = (back.is_none() || phase.streams.iter().any(only_reads)).then(|| of(own, own_bytes));
        match (back, own) {
            (Some(back), Some(own)) => Some(back.weaker(own)),
            (back, own) => back.or(own),
        }
    }

    /// Why threads serve instead of a ring, if they do. I/O that silently goes through the page cache is copied by the
    /// ring's workers outside our accounting; threads keep the CPU that it costs visible. Memory file systems complete in
    /// the caller and need no workers: they are no such fallback.
    pub(super) fn without_ring(&self, proven: Option<&DirectProof>) -> Option<String> {
        match (&self.options.without_io_uring, proven) {
            (Some(why), _) => Some(why.clone()),
            (None, Some(DirectProof::Fallback(_))) => Some(
                "not used, because this goes through the page cache and its workers would hide the CPU time".into(),
            ),
            _ => None,
        }
    }

    /// The way of one stream; `direct` is the target's descriptor for direct I/O, or why there is none.
    pub(super) fn open_target(
        &mut self,
        stream: &StreamPlan,
        direct: Option<&Result<Direct, String>>,
        without_ring: Option<String>,
    ) -> Result<OpenTarget, Failure> {
        let names: &[String] = stream.blocks().map_or(&[], |s| &s.block.files);
        let buffered: Vec<Arc<File>> = if names.is_empty() {
            vec![Arc::new(self.opened.file.try_clone().map_err(|e| self.failed(&e))?)]
        } else {
            let made = self.own.open(&self.target.file, names);
            made.map_err(|e| refusal(Attempt::Create, &self.target.path, &e))?
        };
        let direct = direct.filter(|_| is_direct(stream));
        let past_cache = matches!(direct, Some(Ok(_)));
        let durable = match stream.path.open_sync {
            OpenSync::Dsync if stream.changes_data() => Some(Durable::Data),
            OpenSync::Sync if stream.changes_data() => Some(Durable::All),
            _ => None,
        };
        let opened = |file: &Arc<File>| match (durable, direct) {
            (Some(durable), _) => sys::reopen_durable(file, past_cache, durable).map(Arc::new),
            (None, Some(Ok(direct))) if names.is_empty() => direct.try_clone().map(Arc::new),
            (None, Some(Ok(_))) => sys::reopen(file, true, true).map(Arc::new),
            (None, _) => Ok(Arc::clone(file)),
        };
        let files = buffered.iter().map(opened).collect::<io::Result<_>>().map_err(|e| self.failed(&e))?;
        let threads = match direct {
            // Threads that are asked for need no reason.
            Some(Ok(_)) if stream.path.engine == EngineKind::PsyncThreads => None,
            Some(Ok(_)) => without_ring.map(|why| format!("io_uring: {why}")),
            Some(Err(reason)) => Some(format!("O_DIRECT: refused ({reason}); buffered I/O is used")),
            None => None,
        };
        Ok(OpenTarget { files, direct: past_cache, threads, order: None })
    }
}
