import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { ConfigError } from '@reelgate/platform/config/config-file';
import type { Log } from '@reelgate/platform/log';

const FIND_MS = 5000;
const OUTPUT_BYTES_MAX = 64 * 1024;
/** The setting that turns ffmpeg off. */
const OFF = 'off';
const VERSION = /^ffmpeg version (\S{1,64})/;

const run = promisify(execFile);

/** A program that answers `-version` as ffmpeg does. */
export interface Ffmpeg {
  readonly program: string;
  readonly version: string;
}

/**
 * Finds the ffmpeg of this machine, once at the start, and logs the result. `setting` is a path, `off`, or undefined
 * for the program on the PATH. A path without an ffmpeg is an error of the configuration. A missing program on the PATH
 * is not.
 */
export async function findFfmpeg(setting: string | undefined, log: Log): Promise<Ffmpeg | undefined> {
  if (setting === OFF) {
    log.info({}, 'media.ffmpeg is off: only results in H.264 and VP8 have a thumbnail');
    return undefined;
  }
  const program = setting ?? (await programOnPath());
  const version = program === undefined ? undefined : await readVersion(program);
  if (program !== undefined && version !== undefined) {
    log.info({ program, version }, 'ffmpeg draws the thumbnails of results that are neither H.264 nor VP8');
    return { program, version };
  }
  if (setting !== undefined)
    throw new ConfigError(`media.ffmpeg: ${setting} is not an ffmpeg that runs; expected the path of one, or off`);
  log.info({}, 'no ffmpeg on the PATH: only results in H.264 and VP8 have a thumbnail; install it or set media.ffmpeg');
  return undefined;
}

/** The shell reads the PATH, so this service does not read its environment. */
async function programOnPath(): Promise<string | undefined> {
  try {
    const { stdout } = await run('/bin/sh', ['-c', 'command -v ffmpeg'], { timeout: FIND_MS });
    const found = stdout.trim();
    return found.startsWith('/') ? found : undefined;
  } catch {
    return undefined;
  }
}

async function readVersion(program: string): Promise<string | undefined> {
  try {
    const { stdout } = await run(program, ['-version'], { env: {}, timeout: FIND_MS, maxBuffer: OUTPUT_BYTES_MAX });
    return VERSION.exec(stdout)?.[1];
  } catch {
    return undefined;
  }
}
