import path from 'node:path';
import { readDockerfile } from '../image/dockerfile.ts';
import type { ContainerSpec } from './container.ts';
import { filesOf } from './network.ts';
import type { Namespace } from './network.ts';

/** A folder or file of the machine, read-only, or without `from` an empty writable folder in memory. */
export interface Mount {
  readonly to: string;
  readonly from?: string;
}

export interface InImage {
  readonly root: string;
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly mounts: readonly Mount[];
  readonly user: { readonly uid: number; readonly gid: number };
  readonly namespace: Namespace;
}

const EMPTY = '-';
/**
 * Makes the file system of a container over that of the image: folders for the mounts, the mounts, /proc and a few
 * devices; then it is read-only. Arguments: ROOT UID GID FOLDER MOUNTS, as many FROM TO as MOUNTS says, COMMAND…
 */
const ENTER = `
set -e
image=$1 uid=$2 gid=$3 folder=$4 mounts=$5
shift 5
mount -t tmpfs tmpfs /mnt
mkdir /mnt/changes /mnt/work /mnt/root
mount -t overlay -o "lowerdir=$image,upperdir=/mnt/changes,workdir=/mnt/work" overlay /mnt/root
root=/mnt/root
mkdir -p "$root/proc" "$root/dev"
mount -t proc proc "$root/proc"
mount -t tmpfs -o mode=755 tmpfs "$root/dev"
for device in null zero full random urandom; do
  : > "$root/dev/$device"
  mount --bind "/dev/$device" "$root/dev/$device"
done
while [ "$mounts" -gt 0 ]; do
  if [ "$1" = ${EMPTY} ]; then
    mkdir -p "$root$2"
    mount -t tmpfs -o "nosuid,nodev,mode=777,uid=$uid,gid=$gid" tmpfs "$root$2"
  else
    if [ -d "$1" ]; then mkdir -p "$root$2"; else mkdir -p "$(dirname "$root$2")"; touch "$root$2"; fi
    mount --bind "$1" "$root$2"
    mount -o remount,bind,ro "$root$2"
  fi
  shift 2
  mounts=$((mounts - 1))
done
mount -o remount,ro "$root"
exec chroot "$root" /usr/bin/setpriv --reuid "$uid" --regid "$gid" --clear-groups --no-new-privs \\
  --inh-caps=-all --bounding-set=-all -- /bin/sh -c 'cd "$0" && exec "$@"' "$folder" "$@"
`;

/** A container with the file system of the image, read-only, as an unprivileged user without a capability. */
export function inImage({ root, command, env, mounts, user, namespace }: InImage): ContainerSpec {
  const image = readDockerfile();
  const given = ['resolv.conf', 'hosts'].map((name) => ({
    from: path.join(filesOf(namespace), name),
    to: path.join('/etc', name),
  }));
  const all: readonly Mount[] = [...given, ...mounts];
  return {
    file: 'unshare',
    args: [
      ...['--mount', '--pid', '--fork', '--kill-child=SIGKILL', '--ipc', '--uts', '--', 'sh', '-c', ENTER, 'enter'],
      ...[root, String(user.uid), String(user.gid), image.folder, String(all.length)],
      ...all.flatMap(({ from = EMPTY, to }) => [from, to]),
      ...command,
    ],
    env: {
      PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
      HOSTNAME: namespace.name,
      ...image.environment,
      ...env,
    },
  };
}
