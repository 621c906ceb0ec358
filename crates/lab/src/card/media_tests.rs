use super::*;

const CARD: &str = "title = 'x'\nsource = 'x'\ncapacity = '1MiB'\n[read]\nrate = '1MB/s'\n[write]\nrate = '1MB/s'\n\
                    erase-block = '64KiB'\n";

fn media(more: &str) -> Media {
    let card = Card::parse(&format!("{CARD}{more}")).unwrap_or_else(|e| panic!("{e:#}"));
    Media::new(card, tempfile::tempfile().unwrap(), 7).unwrap()
}

/// Data that say where they belong.
fn pattern(offset: u64, len: usize, generation: u8) -> Vec<u8> {
    (0..len / 512).flat_map(|i| [((offset / 512) as u8 + i as u8) ^ generation; 512]).collect()
}

fn read(media: &mut Media, offset: u64, len: usize) -> Vec<u8> {
    let mut data = vec![0xee; len];
    media.read(offset, &mut data).unwrap();
    data
}

/// The sectors of a card that are not as they were written.
fn differing(media: &mut Media, expected: &[u8]) -> Vec<u64> {
    let found = read(media, 0, expected.len());
    (0..).zip(found.chunks(512).zip(expected.chunks(512))).filter(|(_, (a, b))| a != b).map(|(s, _)| s).collect()
}

#[test]
fn a_sound_card_holds_what_it_was_given() {
    let mut media = media("");
    let data = pattern(4096, 8192, 0);
    media.write(4096, &data).unwrap();
    assert_eq!(read(&mut media, 4096, 8192), data);
    assert_eq!(read(&mut media, 0, 4096), vec![0; 4096]);
    media.write_zeroes(4096, 1024).unwrap();
    assert_eq!(read(&mut media, 4096, 1024), vec![0; 1024]);
    media.trim(4096, 8192).unwrap();
    assert_eq!(read(&mut media, 0, 1 << 20), vec![0; 1 << 20]);
    assert_eq!(media.injected(), Injected::default());
}

#[test]
fn a_card_that_was_in_use_holds_data_that_are_none() {
    let mut media = media("");
    media.fill(128 << 10).unwrap();
    let data = read(&mut media, 0, 129 << 10);
    let distinct: std::collections::HashSet<_> = data[..128 << 10].chunks(8).collect();
    assert_eq!((distinct.len(), &data[128 << 10..]), (16384, &[0; 1024][..]));
    media.fill(1 << 40).unwrap();
    assert!(media.damaged().is_empty());
}

#[test]
fn a_fake_card_wraps_or_drops() {
    let fake = |beyond| media(&format!("[fake]\nreal-capacity = '256KiB'\nbeyond = '{beyond}'\n"));
    let data = pattern(0, 4096, 3);
    let mut wraps = fake("wrap");
    // Over the end of the true size: the second half lands at the beginning.
    wraps.write((256 << 10) - 2048, &data).unwrap();
    assert_eq!(read(&mut wraps, 0, 2048), data[2048..]);
    assert_eq!(read(&mut wraps, (256 << 10) - 2048, 4096), data);
    assert_eq!(read(&mut wraps, 768 << 10, 2048), data[2048..]);
    assert_eq!(wraps.injected().beyond_bytes, 2048);
    let mut drops = fake("drop");
    drops.write((256 << 10) - 2048, &data).unwrap();
    assert_eq!(read(&mut drops, (256 << 10) - 2048, 2048), data[..2048]);
    assert_eq!(read(&mut drops, 256 << 10, 2048), vec![0; 2048]);
    assert_eq!(read(&mut drops, 0, 2048), vec![0; 2048]);
    drops.trim(128 << 10, 512 << 10).unwrap();
    assert_eq!(read(&mut drops, 0, 1 << 20), vec![0; 1 << 20]);
}

#[test]
fn the_record_of_damage_is_what_a_reader_finds() {
    let mut media = media(
        "[[fault]]\nkind = 'lost-write'\nchance = 0.05\n[[fault]]\nkind = 'corrupt-write'\nchance = 0.05\n\
         [wear]\nbit-errors-after = '1536KiB'\nbit-error-chance = 0.01\n",
    );
    for generation in [0x55, 0xaa, 0x33] {
        let whole = pattern(0, 1 << 20, generation);
        // In pieces of all sizes: the same places are met.
        let mut at = 0;
        for size in [512, 4096, 65536, 1024].into_iter().cycle() {
            let end = (at + size).min(whole.len());
            media.write(at as u64, &whole[at..end]).unwrap();
            at = end;
            if at == whole.len() {
                break;
            }
        }
        let found = differing(&mut media, &whole);
        assert!(found.len() > 50, "{}", found.len());
        assert_eq!(found, media.damaged().keys().copied().collect::<Vec<_>>());
    }
    let kinds: Vec<_> = media.damaged().values().copied().collect();
    assert!([Damage::Lost, Damage::Corrupt, Damage::Worn].iter().all(|kind| kinds.contains(kind)));
    let injected = media.injected();
    assert!(injected.lost_sectors > 0 && injected.corrupt_sectors > 0 && injected.worn_sectors > 0);
    media.trim(0, 1 << 20).unwrap();
    assert!(media.damaged().is_empty());
}

#[test]
fn corrupt_data_differ_in_one_bit() {
    let mut media = media("[[fault]]\nkind = 'corrupt-write'\nsector = 9\n");
    let data = pattern(4096, 4096, 0);
    media.write(4096, &data).unwrap();
    let found = read(&mut media, 4096, 4096);
    let bits: u32 = found.iter().zip(&data).map(|(a, b)| (a ^ b).count_ones()).sum();
    assert_eq!((bits, differing(&mut media, &[&vec![0; 4096][..], &data].concat())), (1, vec![9]));
}

#[test]
fn errors_are_where_they_were_asked_for() {
    let mut media = media("[[fault]]\nkind = 'read-error'\nsector = 4\n[[fault]]\nkind = 'write-error'\nsector = 12\n");
    let data = pattern(4096, 4096, 0);
    assert!(matches!(media.write(4096, &data), Err(Refusal::Fault)));
    // A card stops at the first bad sector.
    assert_eq!(read(&mut media, 4096, 2048), data[..2048]);
    assert_eq!(read(&mut media, 6144, 2048), vec![0; 2048]);
    let mut into = [0; 4096];
    assert!(matches!(media.read(0, &mut into), Err(Refusal::Fault)));
    assert!(media.read(0, &mut into[..2048]).is_ok() && media.read(2560, &mut into[..512]).is_ok());
    let injected = media.injected();
    assert_eq!((injected.read_errors, injected.write_errors), (1, 1));
}

#[test]
fn a_worn_card_reads_and_takes_no_more() {
    let mut media = media("[wear]\nread-only-after = '8KiB'\n");
    let data = pattern(0, 8192, 0);
    media.write(0, &data).unwrap();
    assert!(matches!(media.write(0, &data), Err(Refusal::WornOut)));
    assert!(matches!(media.trim(0, 512), Err(Refusal::WornOut)));
    assert_eq!(read(&mut media, 0, 8192), data);
    assert_eq!(media.injected().worn_out_refusals, 2);
}
