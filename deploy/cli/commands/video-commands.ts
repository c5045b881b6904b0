import { readFile } from 'node:fs/promises';
import { systemClock } from '@reelgate/platform/clock';
import { newKey } from '@reelgate/platform/ids';
import { ALPHA } from '@reelgate/tasks/config';
import { CommandFailed, WrongCall, defineCommand, readSingleId } from '../command.ts';
import type { Environment } from '../environment.ts';
import { resolveTypedPath } from '../environment.ts';
import { deliverVideo } from '../video/deliver-video.ts';
import { ACCESS_OPTIONS, findAccess } from '../video/find-access.ts';
import { isTemporary } from '../video/follow-task.ts';
import { ApiRefusal, NoAnswer, publicApi } from '../video/public-api.ts';
import type { PublicApi } from '../video/public-api.ts';
import { checkTarget } from '../video/save-file.ts';

/** The first bytes of files of these types. */
const TYPES: readonly (readonly [string, RegExp])[] = [
  ['image/png', /^\u0089PNG/],
  ['image/jpeg', /^\u00ff\u00d8\u00ff/],
  ['image/webp', /^RIFF[^]{4}WEBP/],
  ['image/gif', /^GIF8/],
  ['image/bmp', /^BM/],
];
const HEAD_BYTES = 16;

const KEY_BYTES = 15;
const CREATE_ATTEMPTS_MAX = 4;
const AGAIN_MS = 2000;

export const videoCreate = defineCommand({
  summary: 'create a video over the public API and save it',
  words: 'PROMPT',
  options: {
    output: { value: 'FILE', short: 'o', means: 'the file of the video; default: the id of the task and .mp4' },
    model: { value: 'MODEL', means: `the model; default: ${ALPHA}` },
    duration: { value: 'SECONDS', means: 'the length in whole seconds' },
    resolution: { value: 'RESOLUTION', means: 'such as 768P' },
    ratio: { value: 'RATIO', means: 'such as 16:9' },
    image: { value: 'FILE', means: 'the first frame: a file, or its http(s) address' },
    force: { means: 'replace the file if it exists' },
    'max-amount': { value: 'AMOUNT', means: 'order only if it costs at most this, in the currency of the account' },
    'idempotency-key': { value: 'KEY', means: 'the key of an earlier call that got no answer' },
    ...ACCESS_OPTIONS,
  },
  example: 'video create "a red boat at dawn" -o boat.mp4',
  run: ({ words, options, services, environment, terminal }) =>
    untilInterrupted(async (stop) => {
      const prompt = words.join(' ').trim();
      if (prompt === '') throw new WrongCall('give a prompt that describes the video');
      const { force = false, output } = options;
      if (output !== undefined) await checkTarget(resolveTypedPath(environment, output), force);
      const body = await buildBody(prompt, options, environment);
      const access = await findAccess(options, { services, environment }, stop);
      const api = publicApi(access.url, access.token, stop);
      const estimate = await api.estimate(body).catch((error: unknown) => {
        if (error instanceof ApiRefusal && error.status === 401) forgetToken(access.forget());
        if (error instanceof ApiRefusal) return undefined;
        throw error;
      });
      const key = options['idempotency-key'] ?? newKey('cli', KEY_BYTES);
      const taskId = await createOnce(api, body, { key, stop });
      const file = resolveTypedPath(environment, output ?? `${taskId}.mp4`);
      const held = estimate === undefined ? '' : `holds ${estimate.amount} ${estimate.currency}`;
      return deliverVideo({ taskId, file, force, api, access, stop, held, services, terminal });
    }),
});

export const videoSave = defineCommand({
  summary: 'wait for a task and save its video',
  words: 'TASK_ID',
  options: {
    output: { value: 'FILE', short: 'o', means: 'the file of the video; default: the id of the task and .mp4' },
    force: { means: 'replace the file if it exists' },
    ...ACCESS_OPTIONS,
  },
  example: 'video save task_06f2k3h8v0s7m1q9c4x5b2n6d0 -o boat.mp4',
  run: ({ words, options, services, environment, terminal }) =>
    untilInterrupted(async (stop) => {
      const taskId = readSingleId(words, 'task');
      const { force = false, output = `${taskId}.mp4` } = options;
      const file = resolveTypedPath(environment, output);
      await checkTarget(file, force);
      const access = await findAccess(options, { services, environment }, stop);
      const api = publicApi(access.url, access.token, stop);
      return deliverVideo({ taskId, file, force, api, access, stop, held: '', services, terminal });
    }),
});

interface VideoOptions {
  readonly model?: string;
  readonly duration?: string;
  readonly resolution?: string;
  readonly ratio?: string;
  readonly image?: string;
  readonly 'max-amount'?: string;
}

function forgetToken(wasForgotten: boolean): void {
  if (wasForgotten) throw new CommandFailed('the kept token of the command line is no longer valid; run this again');
}

async function buildBody(prompt: string, wanted: VideoOptions, environment: Environment): Promise<object> {
  const { model = ALPHA, duration, resolution, ratio, image, 'max-amount': maxAmount } = wanted;
  const bytes = async (file: string): Promise<Buffer> => {
    try {
      return await readFile(resolveTypedPath(environment, file));
    } catch (error) {
      throw new CommandFailed(`--image: ${(error as Error).message}`);
    }
  };
  return {
    model,
    prompt,
    ...(duration === undefined ? {} : { seconds: duration }),
    ...(resolution === undefined ? {} : { resolution }),
    ...(ratio === undefined ? {} : { ratio }),
    ...(maxAmount === undefined ? {} : { max_amount: maxAmount }),
    ...(image === undefined ? {} : { input_reference: await imageReference(image, bytes) }),
  };
}

/** Creates the task. Each attempt has the same key, so that a lost answer cannot lead to a second video and charge. */
async function createOnce(
  api: PublicApi,
  body: object,
  { key, stop }: { readonly key: string; readonly stop: AbortSignal },
): Promise<string> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await api.create(body, key);
    } catch (error) {
      const isUncertain = error instanceof NoAnswer || (error instanceof ApiRefusal && isTemporary(error.status));
      if (!isUncertain) throw error;
      if (attempt === CREATE_ATTEMPTS_MAX || stop.aborted)
        throw new CommandFailed(
          `${error.message}\nrun the same command with --idempotency-key ${key}: it does not create a second video`,
        );
      await systemClock.sleep(AGAIN_MS * attempt, stop);
    }
  }
}

/** The first frame in the form of the API: an address unchanged, a file as a data URL. */
async function imageReference(image: string, read: (file: string) => Promise<Buffer>): Promise<string> {
  if (/^https?:\/\//.test(image)) return image;
  const bytes = await read(image);
  const head = bytes.toString('latin1', 0, HEAD_BYTES);
  const [type] = TYPES.find(([, magic]) => magic.test(head)) ?? [];
  if (type === undefined) throw new CommandFailed(`${image} is not an image; expected PNG, JPEG, WebP, GIF or BMP`);
  return `data:${type};base64,${bytes.toString('base64')}`;
}

/** Runs work that Ctrl-C stops in order. A second Ctrl-C ends the program immediately. */
async function untilInterrupted<T>(work: (stop: AbortSignal) => Promise<T>): Promise<T> {
  const interrupted = new AbortController();
  const stop = (): void => interrupted.abort();
  process.once('SIGINT', stop);
  try {
    return await work(interrupted.signal);
  } finally {
    process.off('SIGINT', stop);
  }
}
