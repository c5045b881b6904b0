import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import path from 'node:path';
import type { Clock } from '@reelgate/platform/clock';
import type { NewId } from '@reelgate/platform/ids';
import type { Log } from '@reelgate/platform/log';
import type { Confinement } from '../../probe/confinement/confinement.ts';
import { newFairQueue } from '../../probe/pool/fair-queue.ts';
import { scratchEnvironment } from '../../probe/parsers/parser-command.ts';
import { createParserFolder } from '../../probe/parsers/parser-folder.ts';
import type { ParserFolder } from '../../probe/parsers/parser-folder.ts';
import { lowerPriority, readProcessUsage, boundsReached } from '../../probe/confinement/process-usage.ts';
import { frameCommand } from './frame-command.ts';

/** The maximum number of characters of ffmpeg's error output in the log. */
const SAID_CHARACTERS_MAX = 300;
/** The kernel's limit is in whole seconds. It is a second line of defence after the limit that this process watches. */
const SPARE_PROCESSOR_MS = 1000;

export interface FrameExtractorOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly newId: NewId;
  readonly program: string;
  readonly confinement: () => Promise<Confinement>;
  /** The parent of the parsers' folders. */
  readonly folder: string;
  /** The processor time for one file. */
  readonly timeoutMs: number;
  readonly memoryBytes: number;
  readonly pixelsMax: number;
  /** The maximum number of waiting files, in total and of one account. */
  readonly queueMax: number;
  readonly queuePerAccountMax: number;
}

export interface FrameOrder {
  readonly accountId: string;
  /** The container, as the probe found it. */
  readonly mediaType: string;
}

export interface FrameExtractor {
  /**
   * Writes the first frame of a video into a file of ours, as a PNG. Returns false if ffmpeg decodes no frame within
   * its time and memory. It rejects as busy when too many files wait.
   */
  extract(video: string, into: string, order: FrameOrder): Promise<boolean>;
  stop(): Promise<void>;
}

/** The end of a run of ffmpeg. */
interface Run {
  readonly isDone: boolean;
  readonly end: string;
  readonly said: string;
}

/** Runs ffmpeg, one process for each file and one at a time, as confined as the parsers are. */
export function newFrameExtractor(options: FrameExtractorOptions): FrameExtractor {
  const { clock, log, newId, folder } = options;
  const queue = newFairQueue({
    clock,
    workers: 1,
    filesMax: 1,
    perAccountMax: options.queuePerAccountMax,
    totalMax: options.queueMax,
  });
  const stopping = new AbortController();
  let running: Promise<unknown> = Promise.resolve();

  const extract = async (video: string, into: string, order: FrameOrder): Promise<boolean> => {
    const own = createParserFolder(folder, newId('ffmpeg'));
    try {
      await own.put(video, 0);
      const ran = await runFfmpeg(options, own, { mediaType: order.mediaType, stopping: stopping.signal });
      if (ran.isDone && (await own.take(into))) return true;
      log.info({ accountId: order.accountId, ended: ran.end, said: ran.said }, 'ffmpeg gave no frame of a file');
      return false;
    } finally {
      await own.remove();
    }
  };
  return {
    extract: async (video, into, order) => {
      const permit = await queue.enter({ account: order.accountId, isContinued: false });
      const began = clock.now();
      try {
        const extracting = extract(video, into, order);
        running = extracting.catch(() => undefined);
        return await extracting;
      } finally {
        permit.end(clock.now() - began);
      }
    },
    stop: async () => {
      queue.stop();
      stopping.abort();
      await running;
    },
  };
}

async function runFfmpeg(
  options: FrameExtractorOptions,
  own: ParserFolder,
  { mediaType, stopping }: { readonly mediaType: string; readonly stopping: AbortSignal },
): Promise<Run> {
  const { clock, program, timeoutMs: ms, memoryBytes, pixelsMax } = options;
  const command = frameCommand({
    program,
    confinement: await options.confinement(),
    mediaType,
    processorMs: ms + SPARE_PROCESSOR_MS,
    memoryBytes,
    pixelsMax,
    readable: own.readable,
    writable: own.writable,
    file: path.relative(own.writable, own.fileAt(0)),
    frame: path.relative(own.writable, own.drawn),
  });
  if (command === undefined || stopping.aborted) return { isDone: false, end: 'not started', said: '' };
  const [shell, ...args] = command;
  const child = spawn(shell, args, {
    cwd: own.writable,
    env: scratchEnvironment(own.writable),
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  lowerPriority(child.pid);
  const said = collectFirstWords(child);
  const ended = waitForEnd(child);
  const over = new AbortController();
  void ended.then(() => over.abort());
  const usage = (): ReturnType<typeof readProcessUsage> =>
    child.pid === undefined ? undefined : readProcessUsage(child.pid);
  await boundsReached(usage, {
    ...{ clock, ms, memoryBytes },
    before: undefined,
    signal: AbortSignal.any([over.signal, stopping]),
  });
  child.kill('SIGKILL');
  const end = await ended;
  return { isDone: end === 'exit 0', end, said: said() };
}

/** Collects the start of the standard error of a process. The rest is read and dropped. */
function collectFirstWords(child: ChildProcess): () => string {
  let said = '';
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    said = (said + chunk).slice(0, SAID_CHARACTERS_MAX);
  });
  return () => said.trim();
}

function waitForEnd(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child
      .once('close', (code, signal) => resolve(signal === null ? `exit ${String(code)}` : signal))
      .once('error', (error) => resolve(error.message));
  });
}
