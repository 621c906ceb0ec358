//! Where file systems, containers, arrays and partition tables have their magic numbers. One line each; the places are
//! those of their own specifications and of the kernel's headers, and are the ones that libblkid documents.

/// A magic number at its place.
pub(super) struct Signature {
    /// From where the offset counts.
    pub end: End,
    /// Bytes from there.
    pub offset: u64,
    /// What is there.
    pub magic: &'static [u8],
    /// What it means.
    pub what: &'static str,
}

/// From where an offset counts.
pub(super) enum End {
    /// The start of the device.
    Start,
    /// `back` bytes before the end, after the size was cut to whole `unit`s.
    Last {
        /// Bytes.
        unit: u64,
        /// Bytes.
        back: u64,
    },
}

const fn start(offset: u64, magic: &'static [u8], what: &'static str) -> Signature {
    Signature { end: End::Start, offset, magic, what }
}

const fn last(unit: u64, back: u64, offset: u64, magic: &'static [u8], what: &'static str) -> Signature {
    Signature { end: End::Last { unit, back }, offset, magic, what }
}

const EXT: &str = "an ext2, ext3 or ext4 file system, or its journal";
const FAT: &str = "a FAT file system";
const MINIX: &str = "a Minix file system";
const UFS: &str = "a UFS file system";
const OCFS2: &str = "an OCFS2 file system";
const REISER: &str = "a ReiserFS file system";
const LVM2: &str = "an LVM physical volume";
const SWAP: &str = "swap space";
const SUSPENDED: &str = "swap space with the memory of a suspended system";
const GPT: &str = "a partition table (GPT)";
const MD: &str = "a member of an md array";
const UDF: &str = "a UDF file system";
const STRATIS: &str = "a member of a Stratis pool";
const DRBD: &str = "DRBD metadata";
const CRAMFS: &str = "a cramfs file system";
const SQUASHFS: &str = "a squashfs file system";
const BITLOCKER: &str = "a BitLocker volume";
const LUKS: &str = "a LUKS container";
const BSD: &str = "a partition table (BSD)";
const NILFS2: &str = "a nilfs2 file system";

/// All of them. Those of two bytes come last: they may be chance.
#[rustfmt::skip]
pub(super) const SIGNATURES: &[Signature] = &[
    // File systems of Linux.
    start(0, b"XFSB", "an XFS file system"),
    start(0, &[0xfe, 0xed, 0xba, 0xbe], "an XFS log"),
    start(0x10040, b"_BHRfS_M", "a btrfs file system"),
    start(0x400, &[0x10, 0x20, 0xf5, 0xf2], "an F2FS file system"),
    start(0x400, &[0xe2, 0xe1, 0xf5, 0xe0], "an EROFS file system"),
    start(0, b"hsqs", SQUASHFS),
    start(0, b"sqsh", SQUASHFS),
    start(0, b"qshs", SQUASHFS),
    start(0x8000, b"JFS1", "a JFS file system"),
    start(0x10034, b"ReIsErFs", REISER),
    start(0x10034, b"ReIsEr2Fs", REISER),
    start(0x10034, b"ReIsEr3Fs", REISER),
    start(0x2034, b"ReIsErFs", REISER),
    start(0x10000, b"ReIsEr4", "a Reiser4 file system"),
    start(0, &[0x45, 0x3d, 0xcd, 0x28], CRAMFS),
    start(0, &[0x28, 0xcd, 0x3d, 0x45], CRAMFS),
    start(0x200, &[0x45, 0x3d, 0xcd, 0x28], CRAMFS),
    start(0, b"-rom1fs-", "a romfs file system"),
    start(0x400, b"OCFSV2", OCFS2),
    start(0x800, b"OCFSV2", OCFS2),
    start(0x1000, b"OCFSV2", OCFS2),
    start(0x2000, b"OCFSV2", OCFS2),
    start(8, b"OracleCFS", "an OCFS file system"),
    start(0x10000, &[0x01, 0x16, 0x19, 0x70], "a GFS or GFS2 file system"),
    start(0x1018, &[0xc6, 0x85, 0x73, 0xf6, 0x66, 0xce, 0x90, 0xa9, 0xd9, 0x6a, 0x60, 0xcf, 0x80, 0x3d, 0xf7, 0xef], "a bcachefs file system"),
    start(0, b"SFOZ", "a zonefs file system"),
    start(0, &[0x31, 0x18, 0x10, 0x06], "a UBIFS file system"),
    start(0, b"UBI#", "a UBI volume"),
    start(0, b"EXFS", "an EXFS file system"),
    // Those of others.
    start(0, &[0xce, 0xfa, 0xad, 0x1b], "an SCO BFS file system"),
    start(0x800, &[0x2b, 0x55, 0x44], "a Xenix file system"),
    start(0x20, b"ORCLDISK", "an Oracle ASM disk"),
    start(3, b"NTFS    ", "an NTFS file system"),
    start(3, b"EXFAT   ", "an exFAT file system"),
    start(3, b"ReFS\0", "a ReFS file system"),
    start(0x52, b"FAT32   ", FAT),
    start(0x52, b"MSWIN", FAT),
    start(0x36, b"FAT12   ", FAT),
    start(0x36, b"FAT16   ", FAT),
    start(0x36, b"FAT     ", FAT),
    start(0x36, b"MSDOS", FAT),
    start(0x20, b"NXSB", "an APFS container"),
    start(0x8001, b"CD001", "an ISO 9660 file system"),
    start(0x8009, b"CDROM", "a High Sierra file system"),
    start(0x8001, b"BEA01", UDF),
    start(0x8801, b"NSR02", UDF),
    start(0x8801, b"NSR03", UDF),
    start(0x9001, b"NSR02", UDF),
    start(0x9001, b"NSR03", UDF),
    start(0x255c, &[0x54, 0x19, 0x01, 0x00], UFS),
    start(0x255c, &[0x00, 0x01, 0x19, 0x54], UFS),
    start(0x1055c, &[0x19, 0x01, 0x54, 0x19], UFS),
    start(0x1055c, &[0x19, 0x54, 0x01, 0x19], UFS),
    start(0x4055c, &[0x19, 0x01, 0x54, 0x19], UFS),
    start(0x2000, &[0x49, 0xe8, 0x95, 0xf9], "an HPFS file system"),
    start(0x400, &[0xf5, 0xfc, 0x01, 0xa5], "a VxFS file system"),
    start(0x2000, &[0xa5, 0x01, 0xfc, 0xf5], "a VxFS file system"),
    start(0x20, b"1SFB", "a BeFS file system"),
    start(0x220, b"1SFB", "a BeFS file system"),
    start(0x1000, b"SPB5", "a Novell storage pool"),
    start(0x10_0000, &[0x0d, 0xd0, 0x01, 0xc0], "a VMFS volume"),
    start(0x20_0000, &[0x5e, 0xf1, 0xab, 0x2f], "a VMFS file system"),
    // Containers and layers.
    start(0, b"LUKS\xba\xbe", LUKS),
    start(0x4000, b"SKUL\xba\xbe", LUKS),
    start(3, b"-FVE-FS-", BITLOCKER),
    start(0x1a8, &[0x3b, 0xd6, 0x67, 0x49, 0x29, 0x2e, 0xd8, 0x4a, 0x83, 0x99, 0xf6, 0xa3, 0x39, 0xe3, 0xd0, 0x01], BITLOCKER),
    start(0x18, b"LVM2 001", LVM2),
    start(0x218, b"LVM2 001", LVM2),
    start(0x418, b"LVM2 001", LVM2),
    start(0x618, b"LVM2 001", LVM2),
    start(0, b"SnAp", "an LVM snapshot"),
    start(0x1018, &[0xc6, 0x85, 0x73, 0xf6, 0x4e, 0x1a, 0x45, 0xca, 0x82, 0x65, 0xf5, 0x7f, 0x48, 0xba, 0x6d, 0x81], "a bcache device"),
    start(0, b"bluestore block device", "a Ceph object store (BlueStore)"),
    start(0, b"verity\0\0", "a dm-verity hash device"),
    start(0, b"integrt\0", "a dm-integrity device"),
    start(0, b"dmvdo001", "a VDO volume"),
    start(0x204, b"!Stra0tis\x86\xff\x02^\x41rh", STRATIS),
    start(0x1204, b"!Stra0tis\x86\xff\x02^\x41rh", STRATIS),
    last(4096, 4096, 0x3c, &[0x83, 0x74, 0x02, 0x67], DRBD),
    last(4096, 4096, 0x3c, &[0x83, 0x74, 0x02, 0x6b], DRBD),
    last(4096, 4096, 0x3c, &[0x83, 0x74, 0x02, 0x6d], DRBD),
    // Arrays (md(4)): 1.1 at the start, 1.2 at 4 KiB, 1.0 in the last 8 to 12 KiB, 0.90 in the last 64 to 128 KiB.
    start(0, &[0xfc, 0x4e, 0x2b, 0xa9], MD),
    start(0x1000, &[0xfc, 0x4e, 0x2b, 0xa9], MD),
    last(4096, 8192, 0, &[0xfc, 0x4e, 0x2b, 0xa9], MD),
    last(65536, 65536, 0, &[0xfc, 0x4e, 0x2b, 0xa9], MD),
    last(65536, 65536, 0, &[0xa9, 0x2b, 0x4e, 0xfc], MD),
    last(512, 1024, 0, b"Intel Raid ISM Cfg Sig. ", "a member of an Intel firmware array"),
    last(512, 512, 0, b"$XIDE$", "a member of an LSI firmware array"),
    last(512, 512, 0, b"DPTM", "a member of an Adaptec firmware array"),
    last(512, 32256, 0, b"Promise Technology, Inc.", "a member of a Promise firmware array"),
    last(512, 5632, 0, &[0xf3, 0x16, 0x78, 0x5a], "a member of a HighPoint firmware array"),
    start(0x1220, &[0xf0, 0x16, 0x78, 0x5a], "a member of a HighPoint firmware array"),
    start(0, b"$DRBDmgr=q", "a DRBD Manage control volume"),
    last(512, 512, 0, &[0xde, 0x11, 0xde, 0x11], "a member of a DDF array"),
    last(512, 1024, 0, b"NVIDIA", "a member of an nForce firmware array"),
    // Swap space: the magic ends its first page, 4 to 64 KiB.
    start(0x0ff6, b"SWAPSPACE2", SWAP), start(0x0ff6, b"SWAP-SPACE", SWAP),
    start(0x1ff6, b"SWAPSPACE2", SWAP), start(0x1ff6, b"SWAP-SPACE", SWAP),
    start(0x3ff6, b"SWAPSPACE2", SWAP), start(0x3ff6, b"SWAP-SPACE", SWAP),
    start(0x7ff6, b"SWAPSPACE2", SWAP), start(0x7ff6, b"SWAP-SPACE", SWAP),
    start(0xfff6, b"SWAPSPACE2", SWAP), start(0xfff6, b"SWAP-SPACE", SWAP),
    start(0x0ff6, b"S1SUSPEND", SUSPENDED), start(0x0ff6, b"S2SUSPEND", SUSPENDED), start(0x0ff6, b"LINHIB0001", SUSPENDED),
    start(0xfff6, b"S1SUSPEND", SUSPENDED), start(0xfff6, b"S2SUSPEND", SUSPENDED), start(0xfff6, b"LINHIB0001", SUSPENDED),
    // Partition tables. That of MBR has no magic of its own.
    start(0x200, b"EFI PART", GPT),
    start(0x1000, b"EFI PART", GPT),
    last(512, 512, 0, b"EFI PART", GPT),
    last(4096, 4096, 0, b"EFI PART", GPT),
    start(0x200, b"PM\0\0", "a partition table (Apple)"),
    start(0x200, &[0x57, 0x45, 0x56, 0x82], BSD),
    start(0x40, &[0x57, 0x45, 0x56, 0x82], BSD),
    start(0, &[0x0b, 0xe5, 0xa9, 0x41], "a partition table (SGI)"),
    // Two bytes only.
    start(0x438, &[0x53, 0xef], EXT),
    start(0x400, b"H+", "an HFS+ file system"),
    start(0x400, b"HX", "an HFSX file system"),
    start(0x400, b"BD", "an HFS file system"),
    start(0x406, &[0x34, 0x34], NILFS2),
    last(4096, 4096, 6, &[0x34, 0x34], NILFS2),
    start(0x410, &[0x7f, 0x13], MINIX), start(0x410, &[0x8f, 0x13], MINIX),
    start(0x410, &[0x68, 0x24], MINIX), start(0x410, &[0x78, 0x24], MINIX),
    start(0x410, &[0x13, 0x7f], MINIX), start(0x410, &[0x13, 0x8f], MINIX),
    start(0x410, &[0x24, 0x68], MINIX), start(0x410, &[0x24, 0x78], MINIX),
    start(0x418, &[0x5a, 0x4d], MINIX), start(0x418, &[0x4d, 0x5a], MINIX),
    start(0, b"HM", "an LVM1 physical volume"),
    start(0x58, b"CS", "a CoreStorage volume (FileVault)"),
    start(0x1fc, &[0xda, 0xbe], "a partition table (Sun)"),
];
