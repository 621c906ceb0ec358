//! What a card does wrong, and where: a pure function of the seed and the sector, so that what will be found is known
//! before anything is written, in whatever pieces it comes.

use super::chance;
use super::parameters::{Card, Fault, FaultKind, SECTOR};

/// The faults of one card.
#[derive(Clone, Debug)]
pub struct Faults {
    faults: Vec<Fault>,
    seed: u64,
}

impl Faults {
    /// Those of the card's file.
    pub fn new(card: &Card, seed: u64) -> Self {
        Self { faults: card.faults.clone(), seed }
    }

    /// Whether there are any.
    pub fn none(&self) -> bool {
        self.faults.is_empty()
    }

    /// What is wrong with a write (`writing`) or a read of this sector, after so many bytes have been written: the first
    /// fault of the file that meets it.
    pub fn at(&self, sector: u64, writing: bool, written_bytes: u64) -> Option<FaultKind> {
        self.faults
            .iter()
            .enumerate()
            .filter(|(_, fault)| (fault.kind != FaultKind::ReadError) == writing)
            .filter(|(_, fault)| written_bytes >= fault.after.0)
            .find(|(index, fault)| self.meets(*index, fault, sector))
            .map(|(_, fault)| fault.kind)
    }

    fn meets(&self, index: usize, fault: &Fault, sector: u64) -> bool {
        if let Some(first) = fault.sector {
            return sector.checked_sub(first).is_some_and(|after| after < fault.sectors.unwrap_or(1));
        }
        let in_unit = fault.unit.0 / SECTOR;
        // The position among the faults keeps two of one kind apart.
        let number = chance::number(self.seed, index as u64, sector / in_unit);
        chance::unit_interval(number) < fault.chance.unwrap_or(0.0)
            && (fault.kind != FaultKind::CorruptWrite
                || sector % in_unit == chance::number(self.seed, number, 1) % in_unit)
    }

    /// The bit of a sector that is wrong, 0 to 4095.
    pub fn bit(&self, sector: u64) -> usize {
        flipped_bit(self.seed, sector)
    }
}

/// The bit of a sector that is wrong, 0 to 4095.
pub fn flipped_bit(seed: u64, sector: u64) -> usize {
    (chance::number(seed, u64::from(b'b'), sector) % (SECTOR * 8)) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(text: &str, seed: u64) -> Faults {
        let card = format!(
            "title = 'x'\nsource = 'x'\ncapacity = '64MiB'\n[read]\nrate = '1MB/s'\n[write]\nrate = '1MB/s'\n\
             erase-block = '4MiB'\n{text}"
        );
        Faults::new(&Card::parse(&card).unwrap_or_else(|e| panic!("{e:#}")), seed)
    }

    #[test]
    fn named_sectors_are_met_and_no_others() {
        let faults = faults("[[fault]]\nkind = 'read-error'\nsector = 100\nsectors = 3\nafter = '1KiB'", 1);
        assert_eq!(faults.at(100, false, 0), None);
        let met: Vec<_> = (0..200).filter(|s| faults.at(*s, false, 1024).is_some()).collect();
        assert_eq!(met, [100, 101, 102]);
        assert_eq!(faults.at(100, true, 1024), None);
    }

    #[test]
    fn the_seed_chooses_units_and_of_wrong_data_one_sector() {
        let sectors = 64 * 2048;
        let lost = "[[fault]]\nkind = 'lost-write'\nchance = 0.01";
        let of = |text: &str, seed| -> Vec<u64> {
            let faults = faults(text, seed);
            (0..sectors).filter(|s| faults.at(*s, true, 0).is_some()).collect()
        };
        let first = of(lost, 1);
        // 16,384 units of 8 sectors: 164 expected, standard deviation 12.7.
        assert!((8 * 110..8 * 220).contains(&first.len()), "{}", first.len());
        assert!(first.chunks(8).all(|unit| unit[0] % 8 == 0 && unit[7] == unit[0] + 7));
        assert_eq!(first, of(lost, 1));
        assert_ne!(first, of(lost, 2));
        let corrupt = of("[[fault]]\nkind = 'corrupt-write'\nchance = 0.01", 1);
        assert_eq!(corrupt.len(), first.len() / 8);
        assert!((0..8).all(|place| corrupt.iter().any(|s| s % 8 == place)));
    }

    #[test]
    fn the_first_fault_of_the_file_wins() {
        let text =
            "[[fault]]\nkind = 'write-error'\nsector = 5\n[[fault]]\nkind = 'lost-write'\nsector = 4\nsectors = 3";
        let faults = faults(text, 1);
        let kinds: Vec<_> = (3..8).map(|s| faults.at(s, true, 0)).collect();
        let (lost, error) = (Some(FaultKind::LostWrite), Some(FaultKind::WriteError));
        assert_eq!(kinds, [None, lost, error, lost, None]);
    }
}
