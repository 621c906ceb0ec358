//! What values of keys say, whatever language the key is of.

use crate::extent::Extent;
use model::{
    BlockShare, BlockSize, FillPattern, IoPriority, NumaMemory, NumaNodes, Zone, parse_bytes, parse_duration_ns,
};
use std::collections::BTreeSet;

pub(crate) fn bytes(text: &str) -> Result<u64, String> {
    parse_bytes(text).map_err(|e| e.to_string())
}

pub(crate) fn time(text: &str) -> Result<u64, String> {
    parse_duration_ns(text).map_err(|e| e.to_string())
}

pub(crate) fn whole<T: std::str::FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("'{text}' is not a whole number from 0 on that fits"))
}

pub(crate) fn positive<T: std::str::FromStr + PartialEq + Default>(text: &str) -> Result<T, String> {
    whole(text).and_then(not_0)
}

pub(crate) fn above_0<T: PartialEq + Default>(number: T) -> Option<T> {
    Some(number).filter(|n| *n != T::default())
}

pub(crate) fn not_0<T: PartialEq + Default>(number: T) -> Result<T, String> {
    above_0(number).ok_or_else(|| "0 is not possible".to_owned())
}

/// A power of two.
pub(crate) fn page_bytes(bytes: u64) -> Result<u64, String> {
    // Beyond, no address space has room for it.
    let possible = bytes.is_power_of_two() && bytes <= 1 << 46;
    possible.then_some(bytes).ok_or_else(|| format!("{bytes} bytes are not a power of two"))
}

pub(crate) fn flag(text: &str) -> Result<bool, String> {
    match text {
        "true" | "yes" | "1" => Ok(true),
        "false" | "no" | "0" => Ok(false),
        _ => Err(format!("'{text}' is neither true nor false")),
    }
}

pub(crate) fn percent(text: &str) -> Result<u32, String> {
    let number: u32 = whole(text.trim_end_matches('%').trim())?;
    if number > 100 { Err(format!("'{text}' is above 100 %")) } else { Ok(number) }
}

pub(crate) fn extent(text: &str) -> Result<Extent, String> {
    if text.ends_with('%') { percent(text).map(Extent::Percent) } else { bytes(text).map(Extent::Bytes) }
}

/// Thousandths of a decimal such as `1.2`.
pub(crate) fn milli(text: &str) -> Result<u32, String> {
    let number: f64 = text.trim().parse().map_err(|_| format!("'{text}' is not a number"))?;
    let scaled = (number * 1000.0).round();
    if (0.0..=1e6).contains(&scaled) { Ok(scaled as u32) } else { Err(format!("'{text}' is not from 0 to 1000")) }
}

/// Thousandths of a per cent figure such as `0.3%`.
pub(crate) fn permille(text: &str) -> Result<u32, String> {
    let scaled = milli(text.trim().trim_end_matches('%'))?;
    if !scaled.is_multiple_of(100) {
        return Err(format!("'{text}': steps of 0.1 % are possible"));
    }
    Ok(scaled / 100)
}

/// `4KiB`, `1KiB-16KiB`, `4KiB/60:64KiB/40`.
pub(crate) fn block_size(text: &str) -> Result<BlockSize, String> {
    let block = |text: &str| above_0(bytes(text)?).ok_or_else(|| "a block of 0 bytes".to_owned());
    if text.contains([':', '/']) {
        let mut shares = Vec::new();
        for part in text.split(':') {
            let (bytes, weight) = part.split_once('/').unwrap_or((part, ""));
            let weight = Some(weight.trim()).filter(|w| !w.is_empty()).map(percent).transpose()?;
            shares.push((block(bytes)?, weight));
        }
        let given: u32 = shares.iter().filter_map(|s| s.1).fold(0, u32::saturating_add);
        let open = shares.iter().filter(|s| s.1.is_none()).count() as u32;
        if given > 100 || (open == 0 && given != 100) {
            return Err(format!("the shares sum to {given} %, not to 100"));
        }
        let rest = (100 - given).checked_div(open).unwrap_or(0);
        let share = |(bytes, weight): (u64, Option<u32>)| BlockShare { bytes, weight: weight.unwrap_or(rest) };
        return Ok(BlockSize::Split(shares.into_iter().map(share).collect()));
    }
    if let Some((least, most)) = text.split_once('-') {
        let (min_bytes, max_bytes) = (bytes(least)?, bytes(most)?);
        if min_bytes == 0 || min_bytes > max_bytes {
            return Err(format!("'{text}' is not a range of sizes"));
        }
        // Sizes are whole multiples of the smallest.
        return Ok(match max_bytes - max_bytes % min_bytes {
            bytes if bytes == min_bytes => BlockSize::Fixed { bytes },
            max_bytes => BlockSize::Range { min_bytes, max_bytes, step_bytes: min_bytes },
        });
    }
    Ok(BlockSize::Fixed { bytes: block(text)? })
}

/// `90/10:10/90`: shares of operations over shares of the region; a share left out is the rest.
pub(crate) fn zones(text: &str) -> Result<Vec<Zone>, String> {
    let mut zones = Vec::new();
    let mut accesses = 0;
    let mut regions = 0;
    for part in text.split(':') {
        let (access, region) = part.split_once('/').unwrap_or((part, ""));
        let share = |text: &str, used: u32| if text.trim().is_empty() { Ok(100 - used) } else { percent(text) };
        let zone = Zone { access_percent: share(access, accesses)?, region_percent: share(region, regions)? };
        (accesses, regions) = (accesses + zone.access_percent, regions + zone.region_percent);
        if accesses > 100 || regions > 100 {
            return Err(format!("'{text}': the shares sum to more than 100 %"));
        }
        zones.push(zone);
    }
    if (accesses, regions) != (100, 100) {
        let what = format!("{accesses} % of the operations and {regions} % of the region");
        return Err(format!("'{text}': {what}; each must be 100"));
    }
    Ok(zones)
}

/// Numbers of processors: `0-3,6`.
///
/// # Errors
/// What is no number, or no range.
pub fn cpus(text: &str) -> Result<Vec<u32>, String> {
    let mut list = BTreeSet::new();
    for part in text.split([',', ':']).map(str::trim) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u32, u32) = (whole(first)?, whole(last)?);
        // The largest CONFIG_NR_CPUS of the kernel.
        if last >= 8192 || first > last {
            return Err(format!("'{part}' is not a range of processors"));
        }
        list.extend(first..=last);
    }
    Ok(list.into_iter().collect())
}

/// The value of a name.
pub(crate) fn one_of<T: Clone>(text: &str, values: &[(&str, T)]) -> Result<T, String> {
    let found = values.iter().find(|(name, _)| *name == text);
    found.map(|(_, value)| value.clone()).ok_or_else(|| format!("'{text}' is none of them"))
}

/// `0xHEX`, or a text as it stands.
pub(crate) fn fill_pattern(text: &str) -> Result<FillPattern, String> {
    match text.strip_prefix("0x") {
        Some(digits) => FillPattern::try_from(digits.to_owned()),
        None => FillPattern::of(text.as_bytes().to_vec()),
    }
}

/// One value for reads, writes and trims, or `READ,WRITE,TRIM`.
pub(crate) fn by_direction(text: &str) -> Result<[u32; 3], String> {
    let parts: Vec<u32> = text.split(',').map(percent).collect::<Result<_, _>>()?;
    match parts[..] {
        [all] => Ok([all; 3]),
        [read, write] => Ok([read, write, write]),
        [read, write, trim] => Ok([read, write, trim]),
        _ => Err(format!("'{text}': at most three values: read, write, trim")),
    }
}

/// Numbers of blocks, separated by commas.
pub(crate) fn sequence(text: &str) -> Result<Vec<u64>, String> {
    text.split(',').map(|n| whole(n.trim())).collect()
}

/// `0-1,3`, or `all`.
pub(crate) fn nodes(text: &str) -> Result<NumaNodes, String> {
    let list = if text.trim() == "all" { Vec::new() } else { cpus(text)? };
    let possible = list.last().is_none_or(|n| *n < 1024);
    possible.then_some(NumaNodes(list)).ok_or_else(|| format!("'{text}': nodes go up to 1023"))
}

/// `local`, `prefer:0`, `bind:0-1`, `interleave:all`, `default`.
pub(crate) fn numa_memory(text: &str) -> Result<Option<NumaMemory>, String> {
    let (name, list) = text.split_once(':').map_or((text, None), |(name, list)| (name, Some(list)));
    Ok(Some(match (name, list) {
        ("default", None) => return Ok(None),
        ("local", None) => NumaMemory::Local,
        ("prefer", Some(node)) => match nodes(node)?.0[..] {
            [node] => NumaMemory::Prefer(node),
            _ => return Err(format!("'{text}': prefer takes one node")),
        },
        ("bind", Some(list)) => NumaMemory::Bind(nodes(list)?),
        ("interleave", Some(list)) => NumaMemory::Interleave(nodes(list)?),
        _ => return Err(format!("'{text}' is none of default, local, prefer:NODE, bind:NODES, interleave:NODES")),
    }))
}

pub(crate) fn priority_level(text: &str) -> Result<u8, String> {
    whole(text).ok().filter(|n| *n < 8).ok_or_else(|| format!("'{text}' is not a level from 0 to 7"))
}

pub(crate) fn priority_hint(text: &str) -> Result<u16, String> {
    let last = IoPriority::LAST_HINT;
    whole(text).ok().filter(|n| *n <= last).ok_or_else(|| format!("'{text}' is not a hint from 0 to {last}"))
}

pub(crate) fn per_second(text: &str) -> Result<u64, String> {
    match bytes(text.strip_suffix("/s").unwrap_or(text))? {
        0 => Err("0 never starts anything".to_owned()),
        rate => Ok(rate),
    }
}
