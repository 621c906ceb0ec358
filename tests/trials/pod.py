"""A container of a Kubernetes manifest without Kubernetes: its command line, environment, mounts, host name and hosts, in the image's own root.

pod.py MANIFEST KIND CONTAINER ROOT WORK [--index N] [--argument OLD=NEW]... [-- MORE...]

ROOT is the image's root (only /narrows in it, and directories to mount at); WORK has the volumes. The root is read-only if the manifest says so.
`--argument` replaces an argument that asks for what a test has no time or disk for; MORE is added. Ends as the container does.
Needs root and unshare(1). First of all: what the manifest says twice is the same.
"""
import argparse
import os
import sys

import yaml

# As the runtime of a container does it; $@ is the container's command.
SCRIPT = r'''
root=$1 hosts=$2 name=$3 read_only=$4
shift 4
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount --rbind /sys "$root/sys"
mount --rbind /dev "$root/dev"
mount --bind "$hosts" "$root/etc/hosts"
hostname "$name"
while [ "$1" != -- ]; do
    mount --bind "$1" "$root$2"
    shift 2
done
shift
[ "$read_only" = no ] || mount -o remount,bind,ro "$root"
exec "$@"
'''


def consistent(documents):
    """What the manifests say in several places."""
    by_kind = {document['kind']: document for document in documents}
    if 'Job' not in by_kind:
        spec = by_kind['DaemonSet']['spec']
        assert spec['selector']['matchLabels'].items() <= spec['template']['metadata']['labels'].items()
        return
    job, service = by_kind['Job'], by_kind['Service']
    spec, pod = job['spec'], job['spec']['template']['spec']
    container = pod['containers'][0]
    environment = {variable['name']: variable for variable in container['env']}
    assert spec['completionMode'] == 'Indexed' and spec['completions'] == spec['parallelism'], spec
    assert environment['NARROWS_GROUP_SIZE']['value'] == str(spec['completions']), environment
    assert service['spec']['clusterIP'] == 'None' and service['spec']['publishNotReadyAddresses'], service
    assert service['spec']['selector'].items() <= spec['template']['metadata']['labels'].items(), service
    assert pod['subdomain'] == service['metadata']['name'], pod
    meet = f"{job['metadata']['name']}-0.{pod['subdomain']}:{service['spec']['ports'][0]['port']}"
    assert f'--meet={meet}' in container['args'], (meet, container['args'])


def main():
    more = sys.argv[sys.argv.index('--') + 1:] if '--' in sys.argv else []
    parser = argparse.ArgumentParser()
    for name in ('manifest', 'kind', 'container', 'root', 'work'):
        parser.add_argument(name)
    parser.add_argument('--index', type=int, default=0)
    parser.add_argument('--argument', action='append', default=[])
    given = parser.parse_args(sys.argv[1:len(sys.argv) - len(more) - ('--' in sys.argv)])
    documents = list(yaml.safe_load_all(open(given.manifest)))
    consistent(documents)
    document = next(d for d in documents if d['kind'] == given.kind)
    pod = document['spec']['template']['spec']
    container = next(c for c in pod.get('initContainers', []) + pod['containers'] if c['name'] == given.container)

    replaced = dict(argument.split('=', 1) for argument in given.argument)
    arguments = [replaced.pop(argument.split('=', 1)[0], argument) for argument in container['args']] + more
    assert not replaced, f'the container has no {replaced}'
    # The image's, what an indexed Job adds, and the manifest's; the secret is the test's.
    environment = {'PATH': '/bin', 'NARROWS_ARCHIVE': '/archive'}
    name = f"{document['metadata']['name']}-{given.index}"
    if document['spec'].get('completionMode') == 'Indexed':
        environment['JOB_COMPLETION_INDEX'] = str(given.index)
    for variable in container.get('env', []):
        secret = variable.get('valueFrom', {}).get('secretKeyRef')
        environment[variable['name']] = f"the-secret-{secret['name']}-{secret['key']}" if secret else variable['value']

    volumes = {volume['name']: os.path.join(given.work, volume['name']) for volume in pod['volumes']}
    mounts = []
    for mount in container.get('volumeMounts', []):
        source = os.path.join(volumes[mount['name']], mount.get('subPath', ''))
        os.makedirs(source, exist_ok=True)
        os.makedirs(given.root + mount['mountPath'], exist_ok=True)
        mounts += [source, mount['mountPath']]
    hosts = os.path.join(given.work, f'hosts-{given.index}')
    with open(hosts, 'w') as file:
        # What the cluster's DNS would say of the headless service.
        file.write(f"127.0.0.1 localhost\n127.0.0.1 {document['metadata']['name']}-0.{pod.get('subdomain', 'none')} {name}\n")
    for directory in ('proc', 'sys', 'dev', 'etc'):
        os.makedirs(os.path.join(given.root, directory), exist_ok=True)
    open(os.path.join(given.root, 'etc/hosts'), 'a').close()

    read_only = 'yes' if container.get('securityContext', {}).get('readOnlyRootFilesystem') else 'no'
    os.execvp('unshare', [
        'unshare', '--mount', '--uts', '--ipc', 'sh', '-euc', SCRIPT, 'pod', given.root, hosts, name, read_only, *mounts, '--',
        'env', '-i', *[f'{key}={value}' for key, value in environment.items()], '/usr/sbin/chroot', given.root, '/narrows', *arguments,
    ])


main()
