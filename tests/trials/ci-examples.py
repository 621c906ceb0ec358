"""The workflows of docs/guide, executed step by step as their services do it: ci-examples.py GUIDE... (their blocks of YAML).

Of GitHub Actions the steps with `run`, in the step's shell, with expressions evaluated and GITHUB_STEP_SUMMARY; `uses` are named and passed
over. Of GitLab the lines of `script`, in one shell of `set -e`. What builds narrows (cargo install) is not executed: a `cargo` first in
PATH says what it was asked. Each workflow is executed for the main branch, and then for a change (a pull request, another branch), in the
same checkout. Ends with 1 and the output where a step does not end as it should.
"""

import os
import re
import subprocess
import sys

import yaml

MAIN = {"github.ref_name": "main", "github.event_name": "push", "github.run_id": "1", "vars.NARROWS_GIT": "https://example.org/narrows"}
CHANGE = MAIN | {"github.ref_name": "7/merge", "github.event_name": "pull_request", "github.run_id": "2"}


def evaluated(text, context):
    """Text with its ${{ }} in place: names, 'texts', ==, && and ||."""

    def value(expression):
        python = re.sub(r"[a-z_]+(\.[A-Za-z_]+)+", lambda name: repr(context[name.group(0)]), expression)
        return str(eval(python.replace("&&", " and ").replace("||", " or "), {"__builtins__": {}}))

    return re.sub(r"\$\{\{(.*?)\}\}", lambda found: value(found.group(1).strip()), text)


def execute(name, command, environment, may_end_with):
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode not in may_end_with:
        sys.exit(f"{name}: ended with {done.returncode}\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
    print(f"  {name}: {done.returncode}")


def of_actions(workflow, context):
    for job in workflow["jobs"].values():
        environment = os.environ | job.get("env", {}) | {"GITHUB_STEP_SUMMARY": "summary.md"}
        for step in job["steps"]:
            condition = evaluated("${{ " + step.get("if", "'yes'").replace("always()", "'yes'") + " }}", context)
            if condition in ("False", ""):
                continue
            if "uses" in step:
                print(f"  {step['uses']}: not executed")
                continue
            # Without `shell` a step's shell is bash -e {0}.
            options = ["--noprofile", "--norc", "-eo", "pipefail"] if step.get("shell") == "bash" else ["-e"]
            script = evaluated(step["run"], context)
            execute(step.get("name", script), ["bash", *options, "-c", script], environment, verdicts(script))


def of_gitlab(workflow, context):
    branch = "main" if context is MAIN else "change"
    variables = {"CI_COMMIT_BRANCH": branch, "CI_DEFAULT_BRANCH": "main", "CI_COMMIT_SHORT_SHA": "0123abcd", "CI_PROJECT_DIR": os.getcwd(), "NARROWS_GIT": "https://example.org/narrows"}
    for name, job in workflow.items():
        own = {key: re.sub(r"\$(\w+)", lambda n: variables[n.group(1)], text) for key, text in job.get("variables", {}).items()}
        script = "\n".join(job["script"])
        execute(name, ["bash", "-eo", "pipefail", "-c", script], os.environ | variables | own, verdicts(script))
        for path in job.get("artifacts", {}).get("reports", {}).values():
            assert os.path.getsize(path) > 0, path


def verdicts(script):
    """How the program may end here: its verdict on two sets of runs of one machine depends on the machine."""
    return (0, 1, 4) if "narrows compare" in script or "narrows history" in script else (0,)


for guide in sys.argv[1:]:
    blocks = re.findall(r"^```yaml\n# (\S+)\n(.*?)^```", open(guide).read(), re.S | re.M)
    assert blocks, f"{guide} has no workflow"
    for path, text in blocks:
        workflow = yaml.safe_load(text)
        for which, context in (("main", MAIN), ("a change", CHANGE)):
            print(f"{path}, {which}")
            (of_gitlab if "gitlab" in path else of_actions)(workflow, context)
