import type { Confinement } from '../confinement/confinement.ts';
import { confineCommand } from '../confinement/limited-command.ts';

const MIB = 1024 ** 2;
const YOUNG_MIB = 4;
/**
 * The maximum number of bytes of a file that a parser writes: a redrawn picture, or a temporary file of the picture
 * library.
 */
const FILE_BYTES_MAX = 1024 * MIB;
/** The memory that Node maps at its start and does not use. */
const RESERVED_BYTES = 1024 * MIB;

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
  /** The folder of its compiled code. The child must be able to write to it, or Node ignores it. */
  readonly code: string | undefined;
}

/** The command of a confined child process. It can read its code and its file, write into its folder, and compute. */
export function parserCommand({
  confinement,
  script,
  readable,
  writable,
  code,
  heapBytes,
  memoryBytes,
  processorMs,
}: ParserCommand): readonly [program: string, ...args: string[]] {
  const writables = code === undefined ? [writable] : [writable, code];
  const node = [
    process.execPath,
    '--permission',
    '--allow-addons',
    ...[...readable, ...writables].map((location) => `--allow-fs-read=${location}`),
    ...writables.map((location) => `--allow-fs-write=${location}`),
    '--disallow-code-generation-from-strings',
    '--disable-sigusr1',
    '--no-warnings',
    `--max-old-space-size=${Math.ceil(heapBytes / MIB)}`,
    `--max-semi-space-size=${YOUNG_MIB}`,
    script,
  ] as const;
  return confineCommand(
    confinement,
    { processorMs, fileBytes: FILE_BYTES_MAX, dataBytes: memoryBytes + RESERVED_BYTES },
    { readable, writable: writables },
    node,
  );
}

/** The whole environment of a parser. Node stores its compiled code in the folder `code`. */
export const parserEnvironment = (writable: string, code: string | undefined): Readonly<Record<string, string>> => ({
  ...scratchEnvironment(writable),
  ...(code === undefined ? {} : { NODE_COMPILE_CACHE: code }),
});

/** The environment of a child that has a folder for temporary files. */
export const scratchEnvironment = (writable: string): Readonly<Record<string, string>> => ({
  TMPDIR: writable,
  MALLOC_ARENA_MAX: '2',
});
