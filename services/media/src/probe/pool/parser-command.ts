import type { Confinement } from './confinement.ts';

const KIB = 1024;
const MIB = 1024 ** 2;
const YOUNG_MIB = 4;
/** As the shell counts the size of a file. */
const BLOCK_BYTES = 512;
/** What a parser writes: a picture drawn anew, and what the picture library puts aside meanwhile. */
const FILE_BYTES_MAX = 1024 * MIB;
const OPEN_FILES_MAX = 128;
/** What Node maps before it does anything, and does not use. */
const RESERVED_BYTES = 1024 * MIB;
/** Each shell says what it cannot set; a limit that is lower already stays. */
const LIMITED = 'ulimit -c 0; ulimit -t "$1"; ulimit -f "$2"; ulimit -n "$3"; ulimit -d "$4"; shift 4; unset PWD; exec "$@"';

export interface ParserLimits {
  /** Of JavaScript. */
  readonly heapBytes: number;
  /** Of all that it holds. */
  readonly memoryBytes: number;
  /** Of the processor, in all its life. */
  readonly processorMs: number;
}

export interface ParserCommand extends ParserLimits {
  readonly confinement: Confinement;
  /** The script that runs. */
  readonly script: string;
  /** Folders and files that it may read. */
  readonly readable: readonly string[];
  /** The one folder that it may write to. */
  readonly writable: string;
}

/** The command of a child process that may do little: read its code and its file, write into its folder, compute. */
export function parserCommand({ confinement, script, readable, writable, heapBytes, memoryBytes, processorMs }: ParserCommand): readonly [program: string, ...args: string[]] {
  const node = [
    process.execPath, '--permission', '--allow-addons', ...[...readable, writable].map((place) => `--allow-fs-read=${place}`), `--allow-fs-write=${writable}`,
    '--disallow-code-generation-from-strings', '--disable-sigusr1', '--no-warnings',
    `--max-old-space-size=${String(Math.ceil(heapBytes / MIB))}`, `--max-semi-space-size=${String(YOUNG_MIB)}`, script,
  ] as const;
  const command = [...confinement.prefix, ...node] as const;
  if (confinement.shell === undefined) return command as unknown as readonly [string, ...string[]];
  const limits = [Math.ceil(processorMs / 1000), FILE_BYTES_MAX / BLOCK_BYTES, OPEN_FILES_MAX, Math.ceil((memoryBytes + RESERVED_BYTES) / KIB)];
  return [confinement.shell, '-c', LIMITED, 'sh', ...limits.map(String), ...command];
}

/** All of its environment. */
export const parserEnvironment = (writable: string): Readonly<Record<string, string>> => ({ TMPDIR: writable, MALLOC_ARENA_MAX: '2' });
