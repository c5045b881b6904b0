import type { Confinement } from './confinement.ts';

const KIB = 1024;
const MIB = 1024 ** 2;
const YOUNG_MIB = 4;
/** The unit in which the shell counts file sizes. */
const BLOCK_BYTES = 512;
/** The most bytes of a file that a parser writes: a redrawn picture, or a temporary file of the picture library. */
const FILE_BYTES_MAX = 1024 * MIB;
const OPEN_FILES_MAX = 128;
/** The memory that Node maps at its start and does not use. */
const RESERVED_BYTES = 1024 * MIB;
/** The shell reports each limit that it cannot set. A limit that is already lower stays. */
const LIMITED =
  'ulimit -c 0; ulimit -t "$1"; ulimit -f "$2"; ulimit -n "$3"; ulimit -d "$4"; shift 4; unset PWD; exec "$@"';

export interface ParserLimits {
  /** The JavaScript heap. */
  readonly heapBytes: number;
  /** All memory of the process. */
  readonly memoryBytes: number;
  /** The processor time of its whole life. */
  readonly processorMs: number;
}

export interface ParserCommand extends ParserLimits {
  readonly confinement: Confinement;
  /** The script to run. */
  readonly script: string;
  /** The folders and files that the child may read. */
  readonly readable: readonly string[];
  /** The one folder that the child may write to. */
  readonly writable: string;
}

/** The command of a confined child process. It can read its code and its file, write into its folder, and compute. */
export function parserCommand({
  confinement,
  script,
  readable,
  writable,
  heapBytes,
  memoryBytes,
  processorMs,
}: ParserCommand): readonly [program: string, ...args: string[]] {
  const node = [
    process.execPath,
    '--permission',
    '--allow-addons',
    ...[...readable, writable].map((place) => `--allow-fs-read=${place}`),
    `--allow-fs-write=${writable}`,
    '--disallow-code-generation-from-strings',
    '--disable-sigusr1',
    '--no-warnings',
    `--max-old-space-size=${String(Math.ceil(heapBytes / MIB))}`,
    `--max-semi-space-size=${String(YOUNG_MIB)}`,
    script,
  ] as const;
  const command = [...confinement.prefix, ...node] as const;
  if (confinement.shell === undefined) return command as unknown as readonly [string, ...string[]];
  const limits = [
    Math.ceil(processorMs / 1000),
    FILE_BYTES_MAX / BLOCK_BYTES,
    OPEN_FILES_MAX,
    Math.ceil((memoryBytes + RESERVED_BYTES) / KIB),
  ];
  return [confinement.shell, '-c', LIMITED, 'sh', ...limits.map(String), ...command];
}

/** The whole environment of the child. */
export const parserEnvironment = (writable: string): Readonly<Record<string, string>> => ({
  TMPDIR: writable,
  MALLOC_ARENA_MAX: '2',
});
