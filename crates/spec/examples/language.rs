//! Prints the keys of the text form and the options of fio that are supported, for docs/design/workloads.md.

fn main() {
    for key in spec::job_keys() {
        println!("| `{}` | {} | {} |", key.name, key.expects, key.meaning);
    }
    let options: Vec<String> = spec::fio_options().iter().map(|o| format!("`{o}`")).collect();
    println!("\n{}", options.join(", "));
}
