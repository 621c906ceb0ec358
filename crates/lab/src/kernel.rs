//! What is taken out of a package of the kernel: the image in the form that starts fastest, and device trees.

use super::lock;
use super::machine::Boot;
use super::mistakes::did_you_mean;
use anyhow::{Context, bail};
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// First bytes of an xz stream (xz file format 1.2, 2.1.1.1).
const XZ_MAGIC: [u8; 6] = [0xfd, b'7', b'z', b'X', b'Z', 0];

/// Unpacks xz; what comes behind the stream is not looked at.
///
/// # Errors
/// It is no xz, or broken.
pub fn unpack_xz(bytes: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut out = Vec::new();
    lzma_rust2::XzReader::new(bytes, false).read_to_end(&mut out)?;
    Ok(out)
}

/// The ELF file that a bzImage carries; `None` where it is compressed in another way than Debian's are.
pub fn vmlinux_of(vmlinuz: &[u8]) -> Option<Vec<u8>> {
    let starts = vmlinuz.windows(XZ_MAGIC.len()).enumerate().filter(|(_, w)| *w == XZ_MAGIC).map(|(at, _)| at);
    // The unpacker in front carries the same six bytes as a constant: what does not unpack to an ELF file is not it.
    starts.filter_map(|at| unpack_xz(&vmlinuz[at..]).ok()).find(|unpacked| unpacked.starts_with(b"\x7fELF"))
}

/// A kernel's unpacked package.
pub struct Kernel {
    /// As `uname -r` says it.
    pub release: String,
    directory: PathBuf,
}

impl Kernel {
    /// The kernel of an unpacked package.
    ///
    /// # Errors
    /// There is none in it.
    pub fn of(directory: &Path) -> anyhow::Result<Self> {
        let boot = directory.join("boot");
        let entries = fs::read_dir(&boot).with_context(|| format!("there is no kernel in {}", directory.display()))?;
        let names = entries.flatten().filter_map(|e| e.file_name().into_string().ok());
        let release = names.filter_map(|n| n.strip_prefix("vmlinuz-").map(str::to_owned)).next();
        let release = release.with_context(|| format!("there is no vmlinuz in {}", boot.display()))?;
        Ok(Self { release, directory: directory.to_owned() })
    }

    /// Where its modules are.
    pub fn modules(&self) -> PathBuf {
        let old = self.directory.join("lib/modules").join(&self.release);
        // Debian moved everything below /usr in release 13.
        if old.is_dir() { old } else { self.directory.join("usr/lib/modules").join(&self.release) }
    }

    /// The file to start, in the form asked for; made once and kept in `cache`. A note where that was not possible.
    ///
    /// # Errors
    /// It cannot be read or written.
    pub fn image(&self, boot: Boot, cache: &Path) -> anyhow::Result<(PathBuf, Option<String>)> {
        let packed = self.directory.join(format!("boot/vmlinuz-{}", self.release));
        if boot == Boot::Vmlinuz {
            return Ok((packed, None));
        }
        let unpacked = cache.join(format!("vmlinux-{}", self.release));
        fs::create_dir_all(cache).with_context(|| format!("cannot create {}", cache.display()))?;
        // Several machines of one kernel are prepared at a time: the first unpacks, the others wait.
        // Whoever waits for another thread need not be told.
        static UNPACKING: Mutex<()> = Mutex::new(());
        let _one = UNPACKING.lock().unwrap_or_else(PoisonError::into_inner);
        let _lock = lock::take(&cache.join("lock"), "a kernel is unpacked")?;
        if unpacked.exists() {
            return Ok((unpacked, None));
        }
        let bytes = fs::read(&packed).with_context(|| format!("cannot read {}", packed.display()))?;
        let Some(vmlinux) = vmlinux_of(&bytes) else {
            let note =
                format!("{} holds no vmlinux in xz: it is started as it is, which takes longer", packed.display());
            return Ok((packed, Some(note)));
        };
        let partial = cache.join(format!(".vmlinux-{}.{}", self.release, std::process::id()));
        fs::write(&partial, vmlinux).with_context(|| format!("cannot write {}", partial.display()))?;
        fs::rename(&partial, &unpacked).with_context(|| format!("cannot write {}", unpacked.display()))?;
        Ok((unpacked, None))
    }

    /// A device tree by the name of its file.
    ///
    /// # Errors
    /// The package has none of this name.
    pub fn device_tree(&self, name: &str) -> anyhow::Result<PathBuf> {
        let top = self.directory.join(format!("usr/lib/linux-image-{}", self.release));
        // Since 6.5 the vendors have directories of their own.
        let mut open = vec![top.clone()];
        let mut known = Vec::new();
        while let Some(directory) = open.pop() {
            for entry in fs::read_dir(&directory).into_iter().flatten().flatten() {
                let path = entry.path();
                if path.is_dir() {
                    open.push(path);
                } else if path.file_name().is_some_and(|n| n == name) {
                    return Ok(path);
                } else {
                    known.extend(entry.file_name().into_string());
                }
            }
        }
        let meant = did_you_mean(name, known.iter().map(String::as_str));
        bail!("the kernel's package has no device tree {name}{meant} in {}", top.display())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `printf '\x7fELF kernel' | xz --check=crc32`, as bytes.
    const XZ: &[u8] = include_bytes!("../tests/elf.xz");

    #[test]
    fn vmlinux_is_found_behind_a_false_start() {
        let mut image = b"MZ boot code ".to_vec();
        image.extend_from_slice(&XZ_MAGIC);
        image.extend_from_slice(b" is what the unpacker looks for ");
        image.extend_from_slice(XZ);
        image.extend_from_slice(&[0x55; 100]);
        assert_eq!(vmlinux_of(&image).as_deref(), Some(&b"\x7fELF kernel"[..]));
    }

    #[test]
    fn machines_that_are_prepared_at_once_unpack_once() {
        let package = tempfile::tempdir().expect("a directory");
        fs::create_dir(package.path().join("boot")).expect("boot");
        fs::write(package.path().join("boot/vmlinuz-6.1"), XZ).expect("a kernel");
        let kernel = Kernel::of(package.path()).expect("a kernel");
        let cache = package.path().join("cache");
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let (path, note) = kernel.image(Boot::Vmlinux, &cache).expect("unpacked");
                    assert_eq!((fs::read(path).expect("vmlinux").as_slice(), note), (&b"\x7fELF kernel"[..], None));
                });
            }
        });
    }

    #[test]
    fn an_image_without_one_has_none() {
        assert_eq!(vmlinux_of(b""), None);
        assert_eq!(vmlinux_of(&XZ_MAGIC), None);
        assert_eq!(vmlinux_of(&XZ[..XZ.len() - 20]), None);
    }

    #[test]
    fn device_trees_are_found_with_and_without_vendors() {
        let package = tempfile::tempdir().expect("a directory");
        let make = |path: &str| {
            let path = package.path().join(path);
            fs::create_dir_all(path.parent().expect("a parent")).expect("directories");
            fs::write(path, "").expect("a file");
        };
        make("boot/vmlinuz-6.1.0-50-armmp");
        make("usr/lib/linux-image-6.1.0-50-armmp/old.dtb");
        make("usr/lib/linux-image-6.1.0-50-armmp/allwinner/new.dtb");
        let kernel = Kernel::of(package.path()).expect("a kernel");
        assert_eq!(kernel.release, "6.1.0-50-armmp");
        assert!(kernel.device_tree("old.dtb").is_ok() && kernel.device_tree("new.dtb").is_ok());
        let error = kernel.device_tree("nwe.dtb").expect_err("misspelt").to_string();
        assert!(error.contains("did you mean 'new.dtb'?"), "{error}");
    }
}
