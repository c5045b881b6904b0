import { readDockerfile } from './dockerfile.ts';

/*
 * Mounts what a container engine mounts, in a mount namespace of its own: the root read-only, an empty /tmp, a few
 * devices, and the given folders. Then it gives up every privilege and starts the command in the image's folder.
 * Arguments: ROOT USER FOLDER BINDS, as many FROM TO MODE as BINDS says, COMMAND…
 */
const ENTER = `
set -e
root=$1 user=$2 folder=$3 binds=$4
shift 4
mount --bind "$root" "$root"
mount -t tmpfs -o nosuid,nodev,mode=1777 tmpfs "$root/tmp"
mount -t proc proc "$root/proc"
mount -t tmpfs -o mode=755 tmpfs "$root/dev"
for device in null zero full random urandom; do
  : > "$root/dev/$device"
  mount --bind "/dev/$device" "$root/dev/$device"
done
while [ "$binds" -gt 0 ]; do
  mount --bind "$1" "$root$2"
  mount -o "remount,bind,$3" "$root$2"
  shift 3
  binds=$((binds - 1))
done
mount -o remount,bind,ro "$root"
exec chroot "$root" /usr/bin/setpriv --reuid "$user" --regid "$user" --clear-groups --no-new-privs \\
  --inh-caps=-all --bounding-set=-all -- /bin/sh -c 'cd "$0" && exec "$@"' "$folder" "$@"
`;
const USER = '65532';

/** A folder or a file of this machine, and the existing path of the root where the program finds it. */
export interface MountInRoot {
  readonly from: string;
  readonly to: string;
  /** Whether the program may write there. */
  readonly writable?: boolean;
}

export interface InRoot {
  readonly root: string;
  readonly mounts?: readonly MountInRoot[];
  readonly environment?: Readonly<Record<string, string>>;
}

/**
 * The program, arguments and environment that run a command in the image's file system as a container with a read-only
 * root does: as its user, without privileges, with a process namespace of its own. The network is that of the caller.
 */
export function inRoot(
  { root, mounts = [], environment = {} }: InRoot,
  command: readonly string[],
): { readonly file: string; readonly args: readonly string[]; readonly env: Readonly<Record<string, string>> } {
  const image = readDockerfile();
  return {
    file: 'unshare',
    args: [
      ...['--mount', '--pid', '--fork', '--kill-child', '--ipc', '--uts', '--', 'sh', '-c', ENTER, 'enter'],
      ...[root, USER, image.folder, String(mounts.length)],
      ...mounts.flatMap(({ from, to, writable = false }) => [from, to, writable ? 'rw' : 'ro']),
      ...command,
    ],
    env: {
      PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
      HOME: '/tmp',
      ...image.environment,
      ...environment,
    },
  };
}
