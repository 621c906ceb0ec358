//! Ordinary texts, in which there is no result of a storage tool: lines of the words of ten languages and of the shapes in which
//! other commands print their numbers. What decides is given from outside: a seed, or the bytes of a fuzzer.

/// Words of a language; among them those for bytes, seconds, reading, writing and speed.
const LANGUAGES: [(&str, &[&str]); 10] = [
    (
        "English",
        &[
            "bytes",
            "seconds",
            "copied",
            "read",
            "write",
            "speed",
            "the",
            "disk",
            "was",
            "fast",
            "Average",
            "and",
            "records",
            "in",
            "out",
            "Total",
            "files",
            "cached",
            "Timing",
            "transferred",
            "IOPS",
            "random",
            "Sequential",
        ],
    ),
    (
        "German",
        &[
            "Bytes",
            "Sekunden",
            "kopiert",
            "gelesen",
            "geschrieben",
            "Leserate",
            "die",
            "Platte",
            "war",
            "schnell",
            "Datensätze",
            "ein",
            "aus",
            "insgesamt",
            "Dateien",
        ],
    ),
    (
        "French",
        &[
            "octets",
            "secondes",
            "copiés",
            "lus",
            "écrits",
            "vitesse",
            "le",
            "disque",
            "était",
            "rapide",
            "enregistrements",
            "total",
            "fichiers",
        ],
    ),
    (
        "Spanish",
        &[
            "bytes",
            "segundos",
            "copiados",
            "leídos",
            "escritos",
            "velocidad",
            "el",
            "disco",
            "era",
            "rápido",
            "registros",
            "total",
            "ficheros",
        ],
    ),
    (
        "Italian",
        &[
            "byte",
            "secondi",
            "copiati",
            "letti",
            "scritti",
            "velocità",
            "il",
            "disco",
            "era",
            "veloce",
            "record",
            "totale",
            "file",
        ],
    ),
    (
        "Russian",
        &[
            "байт",
            "секунд",
            "скопировано",
            "прочитано",
            "записано",
            "скорость",
            "диск",
            "был",
            "быстрым",
            "записей",
            "всего",
            "файлов",
            "с",
        ],
    ),
    (
        "Ukrainian",
        &[
            "байтів",
            "секунд",
            "скопійовано",
            "прочитано",
            "записано",
            "швидкість",
            "диск",
            "був",
            "швидким",
            "записів",
            "загалом",
            "файлів",
        ],
    ),
    ("Chinese", &["字节", "秒", "已复制", "读取", "写入", "速度", "磁盘", "很快", "记录", "总计", "文件", "，"]),
    (
        "Japanese",
        &[
            "バイト",
            "秒",
            "コピーされました、",
            "読み込み",
            "書き込み",
            "速度",
            "ディスク",
            "レコード",
            "合計",
            "ファイル",
        ],
    ),
    (
        "Turkish",
        &["bayt", "saniye", "kopyalandı", "okundu", "yazıldı", "hız", "disk", "hızlıydı", "kayıt", "toplam", "dosya"],
    ),
];

const UNITS: [&str; 22] = [
    "B", "kB", "MB", "GB", "MiB", "GiB", "KiB", "s", "ms", "%", "MB/s", "kB/s", "GB/s", "MiB/s", "/s", "kH/s",
    "Mbit/s", "°C", "rpm", "B/s", "IOPS", "usec",
];
const MARKS: [&str; 12] = [",", ":", ";", "=", "(", ")", "/", "-", "|", "...", "[", "]"];

/// What other commands print; `#` stands for a number, `@` for one with a unit, `~` for a word.
const SHAPES: [&str; 40] = [
    "Filesystem     Type      Size  Used Avail Use% Mounted on",
    "/dev/sda#      ext4      #G  #G  #G  #% /srv",
    "tmpfs          tmpfs      #G  #M   #G   #% /dev/shm",
    "sda      8:#    0 #G  0 disk",
    "-rw-r--r-- 1 root root # Nov # 12:# ~",
    "sent # bytes  received # bytes  #.# bytes/sec",
    "total size is #  speedup is #.#",
    "     # 100%    @    0:00:# (xfr##, to-chk=#/#)",
    "~.tar.gz   100%  #MB  @   00:#",
    "#-#-# 12:#:# (@) - '~' saved [#/#]",
    "# bytes received in #.# secs (# Kbytes/sec)",
    "# bytes transferred in # seconds (#.#M/s)",
    "# packets transmitted, # received, #% packet loss, time #ms",
    "rtt min/avg/max/mdev = #.#/#.#/#.#/#.# ms",
    "64 bytes from 10.0.0.#: icmp_seq=# ttl=64 time=#.# ms",
    " 12:#:# up # days,  #:#,  # users,  load average: #.#, #.#, #.#",
    "Mem:    #    #    #    #    #    #",
    "Fetched # kB in #s (# kB/s)",
    "[#.#] usb 1-#: new high-speed USB device number # using xhci_hcd",
    "[#-#-# 08:#:#] CPU ##: #.# kH/s",
    "[  #]   0.00-#.# sec  #.# GBytes  #.# Gbits/sec",
    "Download: @ (data used: @)",
    "#f0c2a77-90aa-4b6e  #  online  #       aio:///dev/sdx",
    "# bytes written in #.# seconds (#.# MiB/sec).",
    "Receiving objects: 100% (#/#), @ | @, done.",
    "   # root  20   0  #  #  # S   #.#   #.#   #:#.# ~",
    "real    #m#.#s",
    "~: @ ~ @ ~ @",
    "<~> ~ # ~ @ ~, ~?",
    "Average ~ speed: # words per minute",
    "~ Read: # ~ / Write: # ~",
    "read: # Zeilen, write: #",
    "Latency: #",
    "Total: # OK (# ~)",
    "Test (~): # MB/s",
    "Timing ~: # in # = @",
    "| ~ | # | @ |",
    "Random: # / #",
    "write # # # # # # # # # #",
    "File ~ # # # #",
];

/// Draws texts by numbers that another gives.
pub struct OrdinaryText<F>(pub F);

impl<F: FnMut() -> u64> OrdinaryText<F> {
    fn below(&mut self, n: usize) -> usize {
        usize::try_from((self.0)() % (n.max(1) as u64)).unwrap_or_default()
    }

    fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    fn number(&mut self) -> String {
        let digits = 1 + self.below(9);
        let whole: String =
            (0..digits).map(|i| char::from(b'0' + self.below(10).max(usize::from(i == 0)) as u8)).collect();
        match self.below(4) {
            0 => format!("{whole}.{}", self.below(1000)),
            1 => format!("{whole},{}", self.below(100)),
            _ => whole,
        }
    }

    fn shape(&mut self, words: &[&str]) -> String {
        let shape = self.one(&SHAPES);
        let mut out = String::new();
        for c in shape.chars() {
            match c {
                '#' => out.push_str(&self.below(10_000).to_string()),
                '@' => out.push_str(&format!("{} {}", self.number(), self.one(&UNITS))),
                '~' => out.push_str(self.one(words)),
                c => out.push(c),
            }
        }
        out
    }

    fn sentence(&mut self, words: &[&str]) -> String {
        let mut out: Vec<String> = Vec::new();
        for _ in 0..3 + self.below(14) {
            out.push(match self.below(8) {
                0 | 1 => self.number(),
                2 => self.one(&UNITS).to_owned(),
                3 => self.one(&MARKS).to_owned(),
                _ => self.one(words).to_owned(),
            });
        }
        out.join(" ")
    }

    /// So many lines in one language, below a title: a first line alone could be the heading of columns.
    pub fn text(&mut self, lines: usize) -> String {
        let (_, words) = self.one(&LANGUAGES);
        let mut text = format!("{} {}.\n", self.one(words), self.one(words));
        for _ in 0..lines {
            let line = if self.below(2) == 0 { self.sentence(words) } else { self.shape(words) };
            text.push_str(&line);
            text.push('\n');
        }
        text
    }
}
