import { buildLauncherPrefix } from './confinement.ts';
import type { Confinement, OpenFiles } from './confinement.ts';

const KIB = 1024;
/** The unit in which the shell counts file sizes. */
const BLOCK_BYTES = 512;
const OPEN_FILES_MAX = 128;
/** The shell reports each limit that it cannot set. A limit that is already lower stays. */
const LIMITED =
  'ulimit -c 0; ulimit -t "$1"; ulimit -f "$2"; ulimit -n "$3"; ulimit -d "$4"; shift 4; unset PWD; exec "$@"';

/** The limits that the kernel holds for a process. */
export interface ProcessLimits {
  /** The processor time of its whole life. */
  readonly processorMs: number;
  /** The size of a file that it writes. */
  readonly fileBytes: number;
  /** The private memory that it maps. */
  readonly dataBytes: number;
}

/**
 * Wraps a command in its confinement, which opens `files` to it, and in limits if the machine has a shell that sets
 * them.
 */
export function confineCommand(
  { prefix, launcher, shell }: Confinement,
  { processorMs, fileBytes, dataBytes }: ProcessLimits,
  files: OpenFiles,
  command: readonly [string, ...string[]],
): readonly [program: string, ...args: string[]] {
  const closed = launcher === undefined ? [] : buildLauncherPrefix(launcher, command[0], files);
  const confined = [...prefix, ...closed, ...command] as unknown as readonly [string, ...string[]];
  if (shell === undefined) return confined;
  const limits = [
    Math.ceil(processorMs / 1000),
    Math.floor(fileBytes / BLOCK_BYTES),
    OPEN_FILES_MAX,
    Math.ceil(dataBytes / KIB),
  ];
  return [shell, '-c', LIMITED, 'sh', ...limits.map(String), ...confined];
}
