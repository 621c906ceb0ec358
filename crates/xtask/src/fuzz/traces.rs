//! Traces of block I/O and recordings of calls: read, planned for every kind of target, and the plan shown.

use super::fio::{inputs, plans};
use super::imports::kind;
use super::{Fuzzer, mutate::hash};
use spec::TextInputs;
use std::collections::BTreeMap;
use std::path::Path;

struct Traces;

pub fn make(_: &Path) -> anyhow::Result<Box<dyn Fuzzer>> {
    Ok(Box::new(Traces))
}

impl Fuzzer for Traces {
    fn corpus(&self) -> Vec<Vec<u8>> {
        vec![
            b"fio version 3 iolog\n20 /t/a add\n120 /t/a open\n124 /t/a read 61440 4096\n976 /t/a write 774144 8192\n17028 /t/a sync 0 0\n".to_vec(),
            b"fio version 2 iolog\n/dev/a add\n/dev/a open\n/dev/a write 4096 512\n/dev/a wait 500 0\n/dev/b trim 0 4096\n/dev/a datasync 0 0\n".to_vec(),
            b"  8,16   1        1     0.000000000  2890  Q   W 2048 + 8 [dd]\n  8,16   0        1     0.001000500  2890  Q  RA 4096 + 256 [cat]\n  8,16   0        2     0.002  2890  Q FWS 0 [jbd2]\n".to_vec(),
            br#"# narrows-trace/1
# root: /w
# directory: /w
7 1764144000.1 openat(AT_FDCWD, "a/b", O_RDWR|O_CREAT|O_TRUNC|O_CLOEXEC, 0600) = 3 <0.0001>
7 1764144000.2 pwrite64(3, "x"..., 4096, 8192) = 4096 <0.0001>
7 1764144000.3 clone(CLONE_FS|CLONE_FILES) = 8
8 1764144000.4 dup2(3, 5) = 5 <0.0001>
8 1764144000.5 fsync(5 <unfinished ...>
7 1764144000.6 rename("a", "c") = 0 <0.0001>
8 1764144000.7 <... fsync resumed>) = 0 <0.2>
7 1764144000.8 openat(AT_FDCWD, "c/d", O_RDONLY) = 6 <0.0001>
7 1764144000.8 sendfile(5, 6, NULL, 100) = 100 <0.0001>
7 1764144000.9 symlink("../e", "c/l") = 0 <0.0001>
7 1764144001.0 link("c/l/f", "c/g") = 0 <0.0001>
7 1764144001.1 unlinkat(AT_FDCWD, "c/b", 0) = 0 <0.0001>
8 1764144001.2 +++ exited +++
"#
            .to_vec(),
            b"[pid 4] 23:59:59.9 getdents64(3, 0x55, 32768) = 48 <0.1>\n[pid 4] 00:00:00.1 mkdir(\"/x\", 0777) = 0\n[pid 4] 00:00:00.2 rmdir(\"/x\") = 0\n".to_vec(),
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
            "# narrows-trace/1\n",
            "# root: /\n",
            "1 0.5 creat(\"a\") = 3 <0.1>\n",
            "1 0.5 fork() = 2\n",
            "1 0.5 ftruncate(3, 9223372036854775807) = 0\n",
            "1 0.5 rename(\"a\", \"b/c\") = 0\n",
            "1 0.5 pwrite64(3, x, 9, 9223372036854775807) = 9223372036854775807\n",
            "/../",
            " = -1 ENOENT\n",
            " <unfinished ...>\n",
        ]
    }

    fn attempt(&mut self, input: &[u8]) -> Result<u64, String> {
        let text = String::from_utf8_lossy(input);
        let none = BTreeMap::new();
        let sets = [vec![], vec![("region", "1MiB"), ("speed", "max")], vec![("outside", "map"), ("pace", "pauses")]];
        let mut outcome = format!("{}", conduct::is_trace(&text));
        for set in sets {
            let set: Vec<(String, String)> = set.into_iter().map(|(k, v)| (k.to_owned(), v.to_owned())).collect();
            match conduct::parse_trace(&TextInputs { set: &set, ..inputs("app.log", &text, &none, &none) }) {
                Ok(workload) => outcome.push_str(&plans(&workload)),
                Err(errors) if errors.is_empty() => return Err("refused without a reason".to_owned()),
                Err(errors) => outcome.push_str(&kind(&errors[0].to_string())),
            }
        }
        Ok(hash(outcome.as_bytes()))
    }
}
