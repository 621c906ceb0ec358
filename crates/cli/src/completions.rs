//! `narrows completions SHELL`: the script of a shell, which asks this program for the names that only it knows.

use crate::archives;
use crate::args::{CompleteArgs, CompletionsArgs, GlobalArgs};
use crate::output::Output;
use clap_complete::Shell;
use model::Failure;
use report::document::CompletionsDocument;
use std::process::ExitCode;

/// Prints the script.
pub fn command(args: &CompletionsArgs, output: &Output) -> Result<ExitCode, Failure> {
    let script = script(args.shell);
    if output.is_json() {
        let shell = args.shell.to_string();
        output.document(&CompletionsDocument::new(&shell, &script));
    } else {
        output.text(&script);
    }
    Ok(ExitCode::SUCCESS)
}

/// Names beside what the options say: a name replaces the place holders that bash's script offers, files stay possible.
const BASH: &str = r#"
_narrows_names() {
    _narrows "$@"
    local cur="${COMP_WORDS[COMP_CWORD]}" names
    [[ $cur == -* ]] && return
    names=$("${COMP_WORDS[0]}" __complete -- "${COMP_WORDS[@]:1:COMP_CWORD-1}" 2>/dev/null)
    [[ -n $names ]] || return
    mapfile -t COMPREPLY < <(compgen -W "$names" -- "$cur"; [[ -n $cur ]] && compgen -f -- "$cur")
}
"#;
const ZSH: &str = r#"
_narrows_names() {
    local -a names
    names=(${(f)"$(command ${words[1]} __complete -- ${words[2,CURRENT-1]} 2>/dev/null)"})
    _narrows "$@"
    local ret=$?
    (( $#names )) && compadd -a names && ret=0
    return ret
}
"#;
const FISH: &str = r#"
complete -c narrows -a '(command narrows __complete -- (commandline -opc)[2..-1] 2>/dev/null)'
"#;

/// The whole script of a shell.
pub fn script(shell: Shell) -> String {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut crate::command(), "narrows", &mut script);
    let script = String::from_utf8_lossy(&script).into_owned();
    match shell {
        Shell::Bash => match script.rfind("\nif [[ \"${BASH_VERSINFO") {
            Some(at) => {
                format!(
                    "{}{BASH}{}",
                    &script[..at],
                    script[at..].replace("complete -F _narrows ", "complete -F _narrows_names ")
                )
            }
            None => script,
        },
        Shell::Zsh => match script.rfind("\nif [ \"$funcstack") {
            Some(at) => {
                let end = script[at..].replace("    _narrows \"$@\"", "    _narrows_names \"$@\"");
                format!("{}{ZSH}{}", &script[..at], end.replace("compdef _narrows ", "compdef _narrows_names "))
            }
            None => script,
        },
        Shell::Fish => script + FISH,
        _ => script,
    }
}

/// Names that may stand behind these words, a line each. What cannot be found out is no name: nobody reads a message here.
pub fn names(args: &CompleteArgs, global: &GlobalArgs, output: &Output) -> Result<ExitCode, Failure> {
    let words: Vec<&str> = args.words.iter().filter_map(|w| w.to_str()).collect();
    for name in candidates(&words, global) {
        // What a shell would take apart is not offered.
        if !name.is_empty()
            && !name.contains(|c: char| c.is_whitespace() || c.is_control() || "'\"$`\\*?;&|<>(){}".contains(c))
        {
            output.text(&format!("{name}\n"));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The words that are no options and no values of options, and the option whose value comes next.
fn sorted<'a>(words: &[&'a str]) -> (Vec<&'a str>, Option<&'a str>) {
    let mut command = &crate::command();
    let root = command.clone();
    command = &root;
    let (mut positional, mut waiting) = (Vec::new(), None);
    for word in words {
        if waiting.take().is_some() {
            continue;
        }
        let long = word.strip_prefix("--").filter(|l| !l.is_empty());
        let short = word.strip_prefix('-').and_then(|s| s.chars().next().filter(|_| s.len() == 1));
        if word.starts_with('-') && word.len() > 1 {
            let all = command.get_arguments().chain(root.get_arguments());
            let takes = |a: &clap::Arg| {
                let named = (long.is_some() && a.get_long() == long) || (short.is_some() && a.get_short() == short);
                named && a.get_action().takes_values()
            };
            waiting = all.filter(|a| takes(a)).map(|_| *word).next();
            continue;
        }
        positional.push(*word);
        command = command.find_subcommand(word).unwrap_or(command);
    }
    (positional, waiting)
}

fn candidates(words: &[&str], global: &GlobalArgs) -> Vec<String> {
    let frames = || [spec::frames_workload()[0].to_owned()];
    let workloads = || spec::workloads().into_iter().map(|w| w.name).chain(frames()).collect();
    let (positional, option) = sorted(words);
    match (option, &positional[..]) {
        (Some("--tag"), _) => tags(global),
        (Some("--workload"), _) => workloads(),
        (Some("--target"), _) => devices(),
        (Some("--for"), ["check"]) => uses(),
        (Some("--class"), _) => judge::class_names().map(str::to_owned).collect(),
        (Some(_), _) => Vec::new(),
        (None, ["run"] | ["workloads", "show"]) => workloads(),
        (None, ["run", _] | ["check" | "inspect" | "watch"] | ["settings", "list"]) => devices(),
        (None, ["rate"]) => devices().into_iter().chain(runs(global)).collect(),
        (None, ["explain"]) => {
            let findings = diagnose::catalogue().iter().map(|page| page.id.clone());
            findings.chain(judge::uses().iter().map(|used| format!("for-{}", used.id))).collect()
        }
        (None, ["runs", "tag", _, ..]) => tags(global),
        (None, ["why"] | ["compare" | "rank" | "report" | "export", ..])
        | (None, ["runs", "show" | "tag"] | ["runs", "verify" | "delete", ..]) => runs(global),
        _ => Vec::new(),
    }
}

fn tags(global: &GlobalArgs) -> Vec<String> {
    let tags = archives::open(global).ok().and_then(|archive| archive.tags().ok());
    tags.map_or_else(Vec::new, |tags| tags.into_keys().collect())
}

fn runs(global: &GlobalArgs) -> Vec<String> {
    let ids = archives::open(global).ok().and_then(|archive| archive.ids().ok()).unwrap_or_default();
    tags(global).into_iter().chain(["latest".to_owned()]).chain(ids).collect()
}

/// What `check --for` takes; of video and recordings an example each.
fn uses() -> Vec<String> {
    let example = |id: &str| match id {
        "video" => "video=V30".to_owned(),
        "record" => "record=4x16Mbit".to_owned(),
        id => id.to_owned(),
    };
    judge::uses().iter().map(|used| example(&used.id)).collect()
}

fn devices() -> Vec<String> {
    observe::disks(&observe::Root::new("/")).into_iter().map(|disk| format!("/dev/{}", disk.name)).collect()
}
