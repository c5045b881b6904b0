import { systemClock } from '@reelgate/platform/clock';
import { CommandFailed } from '../command.ts';
import type { Call, Outcome } from '../command.ts';
import { asBytes } from '../format/bytes.ts';
import { shortDuration } from '../format/times.ts';
import { chargedFor } from './charged.ts';
import type { Access } from './find-access.ts';
import { followTask } from './follow-task.ts';
import type { PublicApi, Video } from './public-api.ts';
import { saveFile } from './save-file.ts';

/** The exit code by which a shell knows an end by Ctrl-C. */
const INTERRUPTED = 130;

export interface Delivery {
  readonly taskId: string;
  readonly file: string;
  readonly force: boolean;
  readonly api: PublicApi;
  readonly access: Access;
  readonly stop: AbortSignal;
  /** The hold of the task, such as `holds 0.40 USD`; empty if it is not known. */
  readonly held: string;
}

/** Waits for the task, saves its video and prints the charge. The task goes on if the operator stops the command. */
export async function deliverVideo(delivery: Delivery, call: Pick<Call, 'services' | 'terminal'>): Promise<Outcome> {
  const { taskId, file, api, access, stop } = delivery;
  const began = systemClock.now();
  try {
    const video = await followTask(taskId, { ...delivery, terminal: call.terminal, clock: systemClock });
    if (video === undefined) return stopped(delivery);
    const bytes = video.status === 'completed' ? await saveFile(await api.content(taskId), file, delivery) : undefined;
    const charged = access.isLocal ? await chargedFor(taskId, call.services, systemClock) : undefined;
    return outcomeOf(delivery, video, { bytes, charged, tookMs: systemClock.now() - began });
  } catch (error) {
    if (stop.aborted) return stopped(delivery);
    if (error instanceof CommandFailed) throw new CommandFailed(`${error.message}\n${howToGoOn(delivery)}`);
    throw error;
  }
}

interface Ended {
  /** Absent: no video was made. */
  readonly bytes: number | undefined;
  readonly charged: string | undefined;
  readonly tookMs: number;
}

function outcomeOf({ taskId, file }: Delivery, { status, error }: Video, { bytes, charged, tookMs }: Ended): Outcome {
  const money = charged === undefined ? '' : `; charged ${charged}`;
  const answer = { id: taskId, status, ...(charged === undefined ? {} : { charged }), took_ms: tookMs };
  if (bytes !== undefined)
    return {
      answer: { ...answer, file, bytes },
      text: `saved ${file} (${asBytes(bytes)}) after ${shortDuration(tookMs)}${money}`,
    };
  const { message = 'no reason was given', code = status } = error ?? {};
  return { ok: false, answer: { ...answer, error }, text: `${taskId} failed: ${message} (${code})${money}` };
}

function stopped(delivery: Delivery): Outcome {
  return {
    exitCode: INTERRUPTED,
    answer: { id: delivery.taskId, status: 'stopped' },
    text: `stopped waiting; the task continues\n${howToGoOn(delivery)}`,
  };
}

function howToGoOn({ taskId, file, access, force }: Delivery): string {
  const where = access.isLocal ? '' : ` --url ${access.url}`;
  return `to save its video later: reelgate video save ${taskId} -o ${file}${where}${force ? ' --force' : ''}`;
}
