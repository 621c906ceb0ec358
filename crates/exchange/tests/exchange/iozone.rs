//! iozone's table.

use crate::runs::{Access, Operation, Order, phase, plain, refused, run, stream};
use exchange::{ExchangeError, Options};
use model::Run;

fn grid() -> Run {
    let mut phases = Vec::new();
    for (size, name) in [(4096, "4k"), (1 << 20, "1m")] {
        let one = |operation: Operation, order: Order, what: &str| {
            phase(&format!("{what}-{name}"), Access::Direct, vec![stream(operation, order, size, 1)])
        };
        phases.extend([
            one(Operation::Write, Order::Sequential, "write"),
            one(Operation::Write, Order::Sequential, "rewrite"),
            one(Operation::Read, Order::Sequential, "read"),
            one(Operation::Read, Order::Random, "random-read"),
        ]);
    }
    run(phases)
}

#[test]
fn a_grid_is_a_table_in_iozones_columns() {
    let table = exchange::iozone(&grid(), &Options::default()).unwrap();
    assert!(table.contains("\tCommand line used: iozone -I -s 262144k -i 0 -i 1 -i 2\n"), "{table}");
    let heading =
        "              kB  reclen    write  rewrite     read   reread     read    write     read   rewrite      read\n";
    assert!(table.contains(heading), "{table}");
    assert!(table.contains("          262144       4     4000     4000     4000              4000\n"), "{table}");
    assert!(table.contains("          262144    1024  1024000  1024000  1024000           1024000\n"), "{table}");
}

#[test]
fn backward_and_strided_reads_have_their_columns() {
    let mut run = grid();
    run.phases[1].plan.streams[0].block_mut().operation = Operation::Read;
    run.phases[1].plan.streams[0].block_mut().order = Order::Reverse;
    run.phases[3].plan.streams[0].block_mut().order = Order::Strided { stride_bytes: 16384 };
    let table = exchange::iozone(&run, &Options::default()).unwrap();
    let row = format!("{:>16}{:>8}{:>9}{:>18}{:>36}{:>20}\n", 262144, 4, 4000, 4000, 4000, 4000);
    assert!(table.contains(&row), "{table}");
}

#[test]
fn a_refused_cell_is_blank_and_listed() {
    let mut run = grid();
    run.phases[2] = refused(run.phases[2].clone());
    let table = exchange::iozone(&run, &Options::default()).unwrap();
    assert!(table.contains("          262144       4     4000     4000                       4000\n"), "{table}");
    assert!(table.contains("  read-4k: foreign-traffic: 40 % by others\n"), "{table}");
}

#[test]
fn without_a_grid_the_error_says_what_is_missing() {
    let error = exchange::iozone(&plain(), &Options::default()).unwrap_err();
    assert!(matches!(error, ExchangeError::NoGrid { .. }), "{error}");
    assert!(error.remedy().unwrap().contains("--format csv"));
    let options = Options { phases: vec!["rand-write-qd1".into()], ..Options::default() };
    let error = exchange::iozone(&plain(), &options).unwrap_err();
    assert!(error.to_string().contains("at least two record sizes"), "{error}");
}
