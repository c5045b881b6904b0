import { readFile } from 'node:fs/promises';
import { newKey } from '@reelgate/platform/ids';
import { systemClock } from '@reelgate/platform/clock';
import { ALPHA } from '@reelgate/tasks/config';
import { CommandFailed, WrongCall, defineCommand } from '../command.ts';
import type { Environment } from '../environment.ts';
import { resolveTypedPath } from '../typed-path.ts';
import { deliverVideo } from '../video/deliver-video.ts';
import { ACCESS_OPTIONS, findAccess } from '../video/find-access.ts';
import { isTemporary } from '../video/follow-task.ts';
import { imageReference } from '../video/image-reference.ts';
import { ApiRefusal, NoAnswer, publicApi } from '../video/public-api.ts';
import type { PublicApi } from '../video/public-api.ts';
import { checkTarget } from '../video/save-file.ts';
import { untilInterrupted } from '../video/until-interrupted.ts';

const KEY_BYTES = 15;
const CREATE_ATTEMPTS_MAX = 4;
const AGAIN_MS = 2000;

interface VideoOptions {
  readonly model?: string;
  readonly duration?: string;
  readonly resolution?: string;
  readonly ratio?: string;
  readonly image?: string;
}

export const videoCreate = defineCommand({
  summary: 'make a video over the public API and save it',
  words: 'PROMPT',
  options: {
    output: { value: 'FILE', short: 'o', means: 'the file of the video; default: the id of the task and .mp4' },
    model: { value: 'MODEL', means: `the model; default: ${ALPHA}` },
    duration: { value: 'SECONDS', means: 'the length in whole seconds' },
    resolution: { value: 'RESOLUTION', means: 'such as 768P' },
    ratio: { value: 'RATIO', means: 'such as 16:9' },
    image: { value: 'FILE', means: 'the first frame: a file, or its http(s) address' },
    force: { means: 'replace the file if it exists' },
    'idempotency-key': { value: 'KEY', means: 'the key of an earlier call that got no answer' },
    ...ACCESS_OPTIONS,
  },
  example: 'video create "a red boat at dawn" -o boat.mp4',
  run: ({ words, options, services, environment, terminal }) =>
    untilInterrupted(async (stop) => {
      const prompt = words.join(' ').trim();
      if (prompt === '') throw new WrongCall('give a prompt that says what the video shows');
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
      return deliverVideo({ taskId, file, force, api, access, stop, held }, { services, terminal });
    }),
});

function forgetToken(wasForgotten: boolean): void {
  if (wasForgotten) throw new CommandFailed('the kept token of the command line is no longer valid; run this again');
}

async function buildBody(prompt: string, wanted: VideoOptions, environment: Environment): Promise<object> {
  const { model = ALPHA, duration, resolution, ratio, image } = wanted;
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
    ...(image === undefined ? {} : { input_reference: await imageReference(image, bytes) }),
  };
}

/** Creates the task. Each attempt has the same key, so that a lost answer cannot make and charge a second video. */
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
          `${error.message}\nrun the same command with --idempotency-key ${key}: it does not make a second video`,
        );
      await systemClock.sleep(AGAIN_MS * attempt, stop);
    }
  }
}
