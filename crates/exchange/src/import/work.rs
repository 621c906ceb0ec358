//! What a tool did to get a figure: which uses and classes it can answer for follows from that.

use super::ImportedRun;
use model::{ForeignWork, MetricKey};

impl ImportedRun {
    /// The work behind its figures, as far as their names and the options beside them tell.
    pub fn works(&self) -> Vec<ForeignWork> {
        match self.source_format {
            "crystaldiskmark" | "kdiskmark" => self.groups.iter().filter_map(|g| disk_mark(&g.name)).collect(),
            "sd-card-bench" => self.groups.iter().filter_map(|g| card_bench(&g.name)).collect(),
            "iozone" => self.metrics().filter_map(|m| iozone(&m.metric.id, self.is_direct)).collect(),
            "dd" => self.groups.iter().filter(|g| g.name == "write").map(|g| sequential(&g.name)).collect(),
            "f3" => self.groups.iter().filter(|g| g.name == "f3.write").map(|g| sequential(&g.name)).collect(),
            "h2testw" => {
                self.groups.iter().filter(|g| g.name.ends_with(".write")).map(|g| sequential(&g.name)).collect()
            }
            format if format.starts_with("fio-") => {
                // The JSON has the options that were given: what is not there is fio's default, through the page cache.
                let unsaid = (format == "fio-json").then_some(false);
                self.options.iter().flat_map(|(job, options)| fio(job, options, unsaid)).collect()
            }
            _ => Vec::new(),
        }
    }
}

/// Large blocks written one behind the other.
fn sequential(prefix: &str) -> ForeignWork {
    ForeignWork {
        prefix: prefix.to_owned(),
        write: true,
        random: false,
        block_bytes: None,
        in_flight: None,
        direct: None,
    }
}

/// `4k`, `1m`, `4KiB`, `4096`, `4096B`, `1M`.
fn size(text: &str) -> Option<f64> {
    let digits: String = text.chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
    let value: f64 = digits.parse().ok()?;
    let power = match text[digits.len()..].chars().next().map(|c| c.to_ascii_lowercase()) {
        None | Some('b') => 0,
        Some('k') => 1,
        Some('m') => 2,
        Some('g') => 3,
        Some(_) => return None,
    };
    Some(value * 1024_f64.powi(power))
}

/// `crystaldiskmark.rnd4k-q32t16.read`, `kdiskmark.seq1m-q8t1.write`.
fn disk_mark(group: &str) -> Option<ForeignWork> {
    let (rest, direction) = group.rsplit_once('.')?;
    let (_, test) = rest.rsplit_once('.')?;
    let (kind, queue) = test.split_once('-').map_or((test, None), |(kind, queue)| (kind, Some(queue)));
    let in_flight = queue.and_then(|q| {
        let (depth, threads) = q.strip_prefix('q')?.split_once('t').unwrap_or((q.strip_prefix('q')?, "1"));
        depth.parse::<u32>().ok()?.checked_mul(threads.parse().ok()?)
    });
    let random = kind.starts_with("rnd");
    let block = kind.strip_prefix(if random { "rnd" } else { "seq" })?;
    matches!(direction, "read" | "write").then(|| ForeignWork {
        prefix: group.to_owned(),
        write: direction == "write",
        random,
        block_bytes: size(block),
        in_flight,
        direct: Some(true),
    })
}

/// `random-read-4k`, `sequential-write`: means of iozone with -I.
fn card_bench(group: &str) -> Option<ForeignWork> {
    let mut parts = group.split('-');
    let (kind, direction) = (parts.next()?, parts.next()?);
    matches!(kind, "random" | "sequential").then(|| ForeignWork {
        prefix: group.to_owned(),
        write: direction == "write",
        random: kind == "random",
        block_bytes: parts.next().and_then(size),
        in_flight: Some(1),
        direct: Some(true),
    })
}

/// `102400k.4k.random-read.throughput_bytes_per_s`.
fn iozone(id: &str, direct: Option<bool>) -> Option<ForeignWork> {
    let MetricKey { of: prefix, quantity, .. } = MetricKey::of(id);
    let mut parts = prefix.rsplit('.');
    let (operation, record) = (parts.next()?, parts.next()?);
    let (write, random) = match operation {
        "read" | "reread" => (false, false),
        "write" | "rewrite" => (true, false),
        "random-read" => (false, true),
        "random-write" => (true, true),
        _ => return None,
    };
    let known = matches!(quantity, "throughput_bytes_per_s" | "ops_per_s");
    known.then(|| ForeignWork {
        prefix: prefix.to_owned(),
        write,
        random,
        block_bytes: size(record),
        in_flight: Some(1),
        direct,
    })
}

/// The value of an option as fio prints it: `rw=randread, bs=(R) 4096B-4096B, (W) ...`, `rw=randread bs=4k iodepth=32`.
fn option<'o>(options: &'o str, key: &str) -> Option<&'o str> {
    let pattern = format!("{key}=");
    let at = options
        .match_indices(&pattern)
        .map(|(i, _)| i)
        .find(|i| *i == 0 || matches!(options.as_bytes()[i - 1], b' ' | b','))?;
    let value = options[at + pattern.len()..].trim_start_matches("(R) ");
    value.split([' ', ',']).next().filter(|v| !v.is_empty())
}

/// The work of a job of fio; `unsaid` is whether it is direct where the options do not say so.
fn fio(job: &str, options: &str, unsaid: Option<bool>) -> Vec<ForeignWork> {
    let Some(pattern) = option(options, "rw").or_else(|| option(options, "readwrite")) else { return Vec::new() };
    let (random, kind) = pattern.strip_prefix("rand").map_or((false, pattern), |kind| (true, kind));
    // Old versions print `bs=4K-4K/4K-4K/4K-4K`.
    let block = option(options, "bs")
        .or_else(|| option(options, "blocksize"))
        .and_then(|bs| size(bs.split(['-', '/']).next()?));
    let count = |key: &str| option(options, key).and_then(|v| v.parse::<u32>().ok());
    let in_flight = count("iodepth").unwrap_or(1).checked_mul(count("numjobs").unwrap_or(1));
    let direct = option(options, "direct").map(|v| v == "1").or(unsaid);
    let of = |direction: &str, write| ForeignWork {
        prefix: format!("{job}.{direction}"),
        write,
        random,
        block_bytes: block,
        in_flight,
        direct,
    };
    match kind {
        "read" => vec![of("read", false)],
        "write" => vec![of("write", true)],
        // A mix does neither as fast as alone.
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_options_tell_the_work() {
        let work = disk_mark("crystaldiskmark.rnd4k-q32t16.read").unwrap();
        assert_eq!((work.write, work.random, work.block_bytes, work.in_flight), (false, true, Some(4096.0), Some(512)));
        let work = iozone("102400k.4k.random-write.throughput_bytes_per_s", Some(true)).unwrap();
        assert_eq!((work.write, work.random, work.block_bytes), (true, true, Some(4096.0)));
        for options in [
            "rw=randwrite, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=libaio, iodepth=32",
            "rw=randwrite, bs=4K-4K/4K-4K/4K-4K, ioengine=libaio, iodepth=32",
            "rw=randwrite bs=4k iodepth=8 numjobs=4",
        ] {
            let works = fio("j", options, None);
            assert_eq!(
                (works.len(), works[0].write, works[0].block_bytes, works[0].in_flight),
                (1, true, Some(4096.0), Some(32)),
                "{options}"
            );
        }
        assert!(fio("j", "rw=randrw bs=4k", None).is_empty() && fio("j", "bs=4k", None).is_empty());
        assert_eq!(fio("j", "rw=read bs=1m", Some(false))[0].direct, Some(false));
        assert_eq!(fio("j", "rw=read bs=1m direct=1", Some(false))[0].direct, Some(true));
    }
}
