//! Traces of block I/O: read, planned for every kind of target, and the plan shown.

use super::fio::{inputs, plans};
use super::imports::kind;
use super::{Fuzzer, mutate::hash};
use spec::TextInputs;
use std::collections::BTreeMap;
use std::path::Path;

struct Traces;

/// Makes it.
pub fn make(_: &Path) -> anyhow::Result<Box<dyn Fuzzer>> {
    Ok(Box::new(Traces))
}

impl Fuzzer for Traces {
    fn corpus(&self) -> Vec<Vec<u8>> {
        vec![
            b"fio version 3 iolog\n20 /t/a add\n120 /t/a open\n124 /t/a read 61440 4096\n976 /t/a write 774144 8192\n17028 /t/a sync 0 0\n".to_vec(),
            b"fio version 2 iolog\n/dev/a add\n/dev/a open\n/dev/a write 4096 512\n/dev/a wait 500 0\n/dev/b trim 0 4096\n/dev/a datasync 0 0\n".to_vec(),
            b"  8,16   1        1     0.000000000  2890  Q   W 2048 + 8 [dd]\n  8,16   0        1     0.001000500  2890  Q  RA 4096 + 256 [cat]\n  8,16   0        2     0.002  2890  Q FWS 0 [jbd2]\n".to_vec(),
        ]
    }

    fn words(&self) -> &'static [&'static str] {
        &[
            "fio version 2 iolog\n",
            "fio version 3 iolog\n",
            " read ",
            " write ",
            " trim ",
            " wait ",
            " sync ",
            " datasync ",
            " add\n",
            "8,0 1 1 0.5 1 Q R 8 + 8 [x]\n",
            "8,0 1 1 0.5 1 D WS 8 + 8 [x]\n",
            "18446744073709551615",
            "9223372036854775807",
            "4294967296",
            "0.999999999",
        ]
    }

    fn attempt(&mut self, input: &[u8]) -> Result<u64, String> {
        let text = String::from_utf8_lossy(input);
        let none = BTreeMap::new();
        let sets = [vec![], vec![("region", "1MiB"), ("speed", "max")]];
        let mut outcome = format!("{}", spec::is_trace(&text));
        for set in sets {
            let set: Vec<(String, String)> = set.into_iter().map(|(k, v)| (k.to_owned(), v.to_owned())).collect();
            match spec::parse_trace(&TextInputs { set: &set, ..inputs("app.log", &text, &none, &none) }) {
                Ok(workload) => outcome.push_str(&plans(&workload)),
                Err(errors) if errors.is_empty() => return Err("refused without a reason".to_owned()),
                Err(errors) => outcome.push_str(&kind(&errors[0].to_string())),
            }
        }
        Ok(hash(outcome.as_bytes()))
    }
}
