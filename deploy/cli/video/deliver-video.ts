import { systemClock } from '@reelgate/platform/clock';
import type { Clock } from '@reelgate/platform/clock';
import { CommandFailed } from '../command.ts';
import type { Outcome } from '../command.ts';
import type { Services } from '../connect-services.ts';
import { formatNanos, asBytes } from '../format/quantities.ts';
import { shortDuration } from '../format/times.ts';
import type { Terminal } from '../terminal.ts';
import type { Access } from './find-access.ts';
import { followTask } from './follow-task.ts';
import type { PublicApi, Video } from './public-api.ts';
import { saveFile } from './save-file.ts';

const SETTLED_MS_MAX = 5000;
const AGAIN_MS = 200;

/** The exit code by which a shell knows an end by Ctrl-C. */
const INTERRUPTED = 130;

export interface Delivery {
  readonly taskId: string;
  readonly file: string;
  readonly force: boolean;
  readonly api: PublicApi;
  readonly access: Access;
  readonly stop: AbortSignal;
  readonly services: Services;
  readonly terminal: Terminal;
  /** The hold of the task, such as `holds 0.40 USD`. Empty if it is not known. */
  readonly held: string;
}

/** Waits for the task, saves its video and prints the charge. The task continues if the operator stops the command. */
export async function deliverVideo(delivery: Delivery): Promise<Outcome> {
  const { taskId, file, api, access, stop, services } = delivery;
  const began = systemClock.now();
  try {
    const video = await followTask(taskId, { ...delivery, clock: systemClock });
    if (video === undefined) return toStoppedOutcome(delivery);
    const bytes = video.status === 'completed' ? await saveFile(await api.content(taskId), file, delivery) : undefined;
    const charged = access.isLocal ? await waitForCharge(taskId, services, systemClock) : undefined;
    return toOutcome(delivery, video, { bytes, charged, tookMs: systemClock.now() - began });
  } catch (error) {
    if (stop.aborted) return toStoppedOutcome(delivery);
    if (error instanceof CommandFailed) throw new CommandFailed(`${error.message}\n${describeResume(delivery)}`);
    throw error;
  }
}

interface VideoEnd {
  /** Undefined if no video was generated. */
  readonly bytes: number | undefined;
  readonly charged: string | undefined;
  readonly tookMs: number;
}

function toOutcome(
  { taskId, file }: Delivery,
  { status, error }: Video,
  { bytes, charged, tookMs }: VideoEnd,
): Outcome {
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

function toStoppedOutcome(delivery: Delivery): Outcome {
  return {
    exitCode: INTERRUPTED,
    answer: { id: delivery.taskId, status: 'stopped' },
    text: `stopped waiting; the task continues\n${describeResume(delivery)}`,
  };
}

function describeResume({ taskId, file, access, force }: Delivery): string {
  const where = access.isLocal ? '' : ` --url ${access.url}`;
  return `to save its video later: reelgate video save ${taskId} -o ${file}${where}${force ? ' --force' : ''}`;
}

/** Waits for the charge of a finished task, which follows its end. Returns undefined if it does not come in time. */
async function waitForCharge(taskId: string, { billing }: Services, clock: Clock): Promise<string | undefined> {
  const until = clock.now() + SETTLED_MS_MAX;
  while (clock.now() < until) {
    try {
      const { hold, settlement } = await billing.getHold({ taskId });
      if (settlement !== undefined) return `${formatNanos(settlement.amountNanos)} ${hold?.currency ?? ''}`.trim();
    } catch {
      // The video is saved already, so the command does not fail if the charge cannot be read.
      return undefined;
    }
    await clock.sleep(AGAIN_MS);
  }
  return undefined;
}
