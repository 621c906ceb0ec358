# Storage checks for ReFrame (4.10):
#
#     reframe -C SITE.py -c deploy/reframe/narrows.py -S target=/scratch/$USER -r                 both, where the site says they may run
#     reframe -C SITE.py -c deploy/reframe/narrows.py -n NarrowsCheck -S target=/scratch -S use=vm-images -r
#     reframe -C SITE.py -c deploy/reframe/narrows.py -n NarrowsGroup -S target=/scratch -S num_tasks=4 -r
#
# NarrowsCheck is one node: its numbers, and whether it is good for a use. NarrowsGroup is all tasks of a job at once on one shared store: the
# sums, begun together, with the slowest rank. Only numbers that are valid become performance variables; one that was refused is none, and
# says so in the log. References of your systems go into `reference` of a test that inherits from these.
# Tried (tests/trials/deploy.sh): ReFrame 4.10.4 with the local scheduler, and with Debian's Slurm (22.05, scheduler squeue, launcher srun)
# on four nodes of one host. Not tried: other schedulers, Slurm with accounting (sacct).
import json
import os
import re

import reframe as rfm
import reframe.utility.sanity as sn
from reframe.core.builtins import run_before, sanity_function, variable

# The units' own signs.
UNITS = {'bytes_per_s': 'B/s', 'ops_per_s': '1/s', 'ns': 'ns'}


class Narrows(rfm.RunOnlyRegressionTest):
    """What both have in common."""

    # The binary; the static one needs nothing on the nodes.
    program = variable(str, value='narrows')
    # What is measured: a directory that the job may write to.
    target = variable(str)
    # More for the command, with blanks between.
    extra = variable(str, value='')
    valid_systems = ['*']
    valid_prog_environs = ['*']

    def numbers(self, document, say=lambda text: None):
        """Performance functions for the metrics of a document that fit and are valid; `say` gets what was refused, and why."""
        metrics = document.get('metrics') or [metric for phase in document['phases'] for metric in phase['metrics']]
        functions = {}
        for metric in metrics:
            if not re.fullmatch(self.wanted, metric['id']):
                continue
            if metric['status'] != 'measured':
                reasons = '; '.join(reason['text'] for reason in metric['reasons'])
                say(f'{metric["id"]} is {metric["status"]}: {reasons}')
                continue
            name = metric['id'].replace('.', '_').replace('-', '_')
            functions[name] = sn.make_performance_function(sn.defer(metric['value']), UNITS.get(metric['unit'], metric['unit']))
        return functions

    def document(self):
        """The document that the job left."""
        with open(os.path.join(self.stagedir, self.answer)) as file:
            return json.load(file)

    @sanity_function
    def answered(self):
        """There is a run with numbers that are valid, and it is as it should be."""
        document = self.document()
        if document['schema'].startswith('narrows/error'):
            return sn.assert_true(False, msg=f'{document["message"]}; {document.get("remedy")}')
        wrong = self.wrong(document)
        if wrong is None and not self.numbers(document):
            wrong = 'all numbers were refused: narrows runs show latest --archive archive   says why'
        return sn.assert_true(wrong is None, msg=wrong or '')

    @run_before('performance')
    def read(self):
        self.perf_variables = self.numbers(self.document(), self.logger.warning)


@rfm.simple_test
class NarrowsCheck(Narrows):
    """One node: `narrows check`, and whether it is good for a use."""

    # For example etcd, vm-images (`narrows check --help`, --for).
    use = variable(str, value='')
    answer = 'check.json'
    wanted = r'[\w-]+\.(throughput_bytes_per_s|iops|latency_ns_p99)'
    num_tasks = 1

    @run_before('run')
    def command(self):
        self.executable = self.program
        self.executable_opts = ['check', f"'{self.target}'", '--json', '--archive', 'archive', '--tag', 'reframe', self.extra]
        if self.use:
            self.executable_opts += ['--for', self.use]
        self.executable_opts += ['>', 'check.json']
        self.keep_files = ['check.json', 'archive']

    def wrong(self, document):
        """What is not as it should be."""
        return document['answer'] if self.use and document['met'] is not True else None


@rfm.simple_test
class NarrowsGroup(Narrows):
    """All tasks of a job at once, in one directory of a shared store."""

    workload = variable(str, value='mix')
    # HOST:PORT, where it does not follow from the launcher.
    meet = variable(str, value='')
    answer = 'rank.0.json'
    wanted = r'[\w-]+\.group\.(throughput_bytes_per_s|iops)'
    num_tasks = 2
    num_tasks_per_node = 1

    @run_before('run')
    def command(self):
        # The local launcher starts one process, which is no group.
        self.skip_if(type(self.job.launcher).registered_name == 'local', 'the local launcher starts one task; srun or mpirun starts a group')
        meet = f" --meet '{self.meet}'" if self.meet else ''
        # Each rank has a document; that of rank 0 has the sums. The launcher says the rank.
        self.executable = 'sh'
        self.executable_opts = [
            '-c',
            f'\'exec "$0" run "$@"{meet} {self.extra} --group --json --archive archive > '
            'rank.${OMPI_COMM_WORLD_RANK:-${SLURM_PROCID:-$PMI_RANK}}.json\'',
            self.program, f"'{self.workload}'", f"'{self.target}'",
        ]
        self.prerun_cmds = ['export NARROWS_GROUP_TOKEN=$(head -c 24 /dev/urandom | base64)']
        self.keep_files = ['rank.*.json', 'archive']

    def wrong(self, document):
        """What is not as it should be."""
        group = document['group']
        if group['size'] != self.num_tasks:
            return f'{group["size"]} ranks met, not {self.num_tasks}'
        return f'the group ended: {group["ended"]}' if group['ended'] else None
