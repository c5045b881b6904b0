import { fileURLToPath } from 'node:url';
import type { NewId } from '@reelgate/platform/ids';
import type { Confinement } from '../confinement/confinement.ts';
import { openCodeCache } from './code-cache.ts';
import type { CodeCache } from './code-cache.ts';
import { parserCommand } from './parser-command.ts';
import type { ParserLimits } from './parser-command.ts';
import { makeParserFolder, sweepParserFolders } from './parser-folder.ts';
import { startParser } from './parser-process.ts';
import type { Parser } from './parser-process.ts';
import { listReadableCode } from './readable-code.ts';

const SCRIPT = fileURLToPath(new URL('../child/parse-files.ts', import.meta.url));

/** Starts child processes that parse, as confined as this machine allows. */
export interface Parsers {
  start(limits: ParserLimits): Promise<Parser>;
}

export interface ParsersOptions {
  readonly newId: NewId;
  /**
   * The folder in which the processes find their files. It is on the disk of the files, so that they can be linked, and
   * belongs to one process.
   */
  readonly folder: string;
  /** Returns the confinement of the processes, which is found once. */
  readonly confinement: () => Promise<Confinement>;
  /** The script of the process; absent: the script of the parsers. */
  readonly script?: string;
  /** Absent: a cache in the system's temporary folder. */
  readonly cache?: CodeCache;
}

export function openParsers({
  newId,
  folder,
  confinement,
  script = SCRIPT,
  cache = openCodeCache(),
}: ParsersOptions): Parsers {
  sweepParserFolders(folder);
  let code: readonly string[] | undefined;
  return {
    start: async (limits) => {
      code ??= listReadableCode();
      const confined = await confinement();
      const own = makeParserFolder(folder, newId('parser'));
      const compiled = await cache.begin();
      const command = parserCommand({
        ...limits,
        confinement: confined,
        script,
        readable: [...code, script, own.readable],
        writable: own.writable,
        code: compiled?.path,
      });
      return startParser(command, own, compiled);
    },
  };
}
