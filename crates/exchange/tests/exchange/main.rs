//! What leaves the program, against what other tools print and read.

mod bonnie_csv;
mod csv;
mod fio_json;
mod fio_logs;
mod generated;
mod hlog;
mod import_any;
mod import_fio;
mod import_others;
mod import_trade;
mod import_wild;
mod iozone;
mod many;
mod ordinary_texts;
mod runs;
