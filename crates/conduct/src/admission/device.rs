//! Whether a block device may be written to: never one that is in use, by whichever way; any other only if its identity
//! was named.

use super::content::found_on;
use super::{Consent, Decided, HeldTarget, Loss, Refusal, with_retries};
use engine::{Attempt, refusal};
use model::{DeviceId, Failure, Reason, TargetKind};
use observe::{DeviceUse, IdentityKind, Part, Relation, Store, device_use};
use spec::Readiness;
use std::fs::{File, Metadata};
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use sys::{Node, OpenMode, SoleOpening, SymlinkPolicy};

/// What lets everything be looked at.
const LOOK_REMEDY: &str = "run it as root, where all processes are seen (of a container: the host), with /proc and /sys \
     mounted; or only read it";

/// Number of a block device, or of the file system that a file or directory lies on.
pub(super) fn number(metadata: &Metadata, kind: TargetKind) -> DeviceId {
    let number = if kind == TargetKind::BlockDevice { metadata.rdev() } else { metadata.dev() };
    let (major, minor) = sys::device_number(number);
    DeviceId { major, minor }
}

/// Only reads without `--destroy`.
pub(super) fn admit(held: &HeldTarget<'_>, device: DeviceId, consent: &Consent<'_>) -> Result<Decided, Failure> {
    let Some(asked) = consent.destroy else {
        // What has no serial number is called by its name.
        let named = observe::device_identity(held.root, device).filter(|i| i.kind == IdentityKind::Name);
        let identity = named.map_or_else(|| "SERIAL".to_owned(), |i| quoted(&i.text));
        let why = Reason::of("read-only", format!("a block device is written to only with --destroy {identity}"));
        return Ok((held.open_for_reading()?, Readiness::ReadOnly(why), Vec::new(), None));
    };
    let (used, claims) = with_retries(|| unused(held, device, asked))?;
    let file = held.open_for_writing()?;
    let loss = loss(held, used, &file);
    Ok((file, Readiness::Writable, claims, Some(loss)))
}

/// Claims it and everything that leads to the same bytes, if nobody uses any of that, and it is the one that was asked for.
fn unused(held: &HeldTarget<'_>, device: DeviceId, asked: &str) -> Result<(DeviceUse, Vec<File>), Refusal> {
    let (mut claim, mut used) = claimed(held, device, asked)?;
    let doubts = used.uses.doubts();
    if !doubts.is_empty() {
        if !used.uses.unknown.is_empty() {
            return Err(Refusal::permanent(held.use_unknown(&doubts.join("; "), LOOK_REMEDY)));
        }
        // What a process has open that cannot be looked into, the kernel still counts; but it counts ours as well.
        drop(claim);
        opened_by_nobody(held, &used, &doubts)?;
        (claim, used) = claimed(held, device, asked)?;
    }
    let mut claims = vec![claim];
    for part in used.uses.parts.iter().skip(1).filter(|p| can_be_claimed(p)) {
        claims.extend(claim_other_path(held, part)?);
    }
    Ok((used, claims))
}

/// Claims the device itself, if no use of it is seen and it is the one that was asked for.
fn claimed(held: &HeldTarget<'_>, device: DeviceId, asked: &str) -> Result<(File, DeviceUse), Refusal> {
    // From here on nobody else can claim it: what is found is still so when it is written to.
    let claim = sys::open_through(&held.handle, OpenMode::ReadExclusive);
    let used = device_use(held.root, device)
        .ok_or_else(|| Refusal::permanent(held.use_unknown("/sys does not know this device", LOOK_REMEDY)))?;
    if !used.uses.uses.is_empty() {
        return Err(Refusal::in_use(held, &used.uses.uses));
    }
    if used.read_only {
        let message = format!("{}: the device is read-only", held.path.display());
        return Err(Refusal::permanent(Failure::refused(message).remedy("blockdev --setrw DEVICE")));
    }
    let claim = claim.map_err(|e| match e.kind() {
        ErrorKind::NotFound => Refusal::permanent(held.use_unknown("/proc is not mounted", LOOK_REMEDY)),
        ErrorKind::ResourceBusy => Refusal::now(held.claimed("it")),
        _ => Refusal::permanent(refusal(Attempt::OpenWrite, &held.path, &e)),
    })?;
    confirmed(held, &used, asked).map_err(Refusal::permanent)?;
    Ok((claim, used))
}

/// Whether the kernel counts no opening of it, nor of another way to the same bytes. A partition counts as an opening of
/// its disk. `doubts` say why it has to be asked.
fn opened_by_nobody(held: &HeldTarget<'_>, used: &DeviceUse, doubts: &[String]) -> Result<(), Refusal> {
    let unsure = |why: String| held.use_unknown(&format!("{}; {why}", doubts.join("; ")), LOOK_REMEDY);
    let ask = |handle: &File, label: &str| match sys::sole_device_opening(handle) {
        Ok(SoleOpening::Yes) => Ok(()),
        Ok(SoleOpening::No) => Err(Refusal::now(unsure(format!("somebody has {label} open")))),
        Ok(SoleOpening::NotTold) => {
            Err(Refusal::permanent(unsure(format!("the kernel does not tell who has {label} open"))))
        }
        Err(e) => Err(Refusal::permanent(unsure(format!("{label} cannot be read ({e})")))),
    };
    ask(&held.handle, "it")?;
    // What lies below a loop device is held open by that, so nothing follows from its being open.
    let tells = |p: &&Part| p.is_whole || can_be_claimed(p) && p.relation != Relation::Below;
    for part in used.uses.parts.iter().skip(1).filter(tells) {
        let handle =
            node_of(part).ok_or_else(|| Refusal::permanent(unsure(format!("{} has no node in /dev", part.label))))?;
        ask(&handle, &part.label)?;
    }
    Ok(())
}

/// Whether the kernel can be asked, by a claim on this part as well, if somebody uses it. The disk of a partition is
/// claimed with the partition, members are claimed by what stands on them.
fn can_be_claimed(part: &Part) -> bool {
    let another_path = part.relation == Relation::Itself || part.relation == Relation::Beside;
    another_path || part.relation == Relation::Below && part.name.starts_with("loop") && !part.is_whole
}

/// A claim on another way to the same bytes; `None` where it has no node.
fn claim_other_path(held: &HeldTarget<'_>, part: &Part) -> Result<Option<File>, Refusal> {
    let Some(handle) = node_of(part) else { return Ok(None) };
    match sys::open_through(&handle, OpenMode::ReadExclusive) {
        Ok(claim) => Ok(Some(claim)),
        Err(e) if e.kind() == ErrorKind::ResourceBusy => Err(Refusal::now(held.claimed(&part.label))),
        Err(e) => {
            Err(Refusal::permanent(held.use_unknown(&format!("{} cannot be opened ({e})", part.label), LOOK_REMEDY)))
        }
    }
}

/// A handle of a part's node in /dev.
fn node_of(part: &Part) -> Option<File> {
    let Store::Device(id) = part.store else { return None };
    let node = Path::new("/dev").join(part.name.replace('!', "/"));
    let is_it = || sys::node_at(&node).is_ok_and(|n| n == Node::Block((id.major, id.minor)));
    if part.name.is_empty() || !is_it() {
        return None;
    }
    sys::open_handle(&node, SymlinkPolicy::Refuse).ok()
}

/// Whether it is the device that the user named.
fn confirmed(held: &HeldTarget<'_>, used: &DeviceUse, asked: &str) -> Result<(), Failure> {
    let identity = &used.identity;
    if asked == identity.text || identity.also.iter().any(|also| also == asked) {
        return Ok(());
    }
    let (what, text) = (identity.kind.text(), &identity.text);
    let message = format!("--destroy {asked} does not match the {what} of {}, which is {text}", held.path.display());
    Err(Failure::refused(message)
        .remedy(format!("if this is the device to be overwritten: --destroy {}", quoted(text))))
}

/// As a shell takes it for one word.
pub(crate) fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.:=+/@,".contains(c);
    if text.chars().all(plain) { text.to_owned() } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

fn loss(held: &HeldTarget<'_>, used: DeviceUse, file: &File) -> Loss {
    let size = sys::device_size(file).unwrap_or(0);
    Loss { path: held.path.clone(), model: used.model, partitions: used.partitions, content: found_on(file, size) }
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn what_is_to_be_typed_is_one_word() {
        assert_eq!(quoted("S3YZNB0K123456-part2"), "S3YZNB0K123456-part2");
        assert_eq!(quoted("t10.ATA  X'1"), r"'t10.ATA  X'\''1'");
    }
}
