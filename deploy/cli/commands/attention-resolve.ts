import { Problem } from '@reelgate/platform/problem';
import { Resolution } from '@reelgate/proto/tasks/v1/operator_service';
import { ACTOR_OPTION, readActor } from '../actor.ts';
import { WrongCall, defineCommand, readSingleId } from '../command.ts';
import type { Outcome } from '../command.ts';
import { toJobJson } from '../format/job-record.ts';
import { toTaskJson } from '../format/task-record.ts';

const RESOLUTIONS: Readonly<Record<string, Resolution>> = {
  completed: Resolution.COMPLETED,
  failed: Resolution.FAILED,
  retry: Resolution.RETRY,
};
/** The most tasks and jobs of one call. */
const IDS_MAX = 200;
/** Refusals that the next task or job would get too. */
const HOPELESS: ReadonlySet<string> = new Set(['unavailable', 'unauthenticated', 'forbidden']);
const NOT_SENT = { reason: 'not_sent', message: 'not decided, because the one before could not be sent' };

export const attentionResolve = defineCommand({
  summary: 'decide the outcome of tasks or jobs, each on its own, with one reason',
  words: 'ID…',
  options: {
    as: { value: 'OUTCOME', means: 'the decision', needed: true, choices: Object.keys(RESOLUTIONS) },
    reason: { value: 'TEXT', means: 'why, for the record' },
    actor: ACTOR_OPTION,
  },
  example: 'attention resolve task_06f2k3h8v0s7m1q9c4x5b2n6d0 --as failed',
  run: async ({ services, words, options, environment }) => {
    const decide = async (taskId: string): Promise<object> => {
      const { record, jobRecord } = await services.tasks.resolveAttention({
        taskId,
        resolution: RESOLUTIONS[options.as ?? ''] ?? Resolution.UNSPECIFIED,
        reason: options.reason ?? '',
        actor: readActor(options.actor, environment),
      });
      return record === undefined ? toJobJson(jobRecord) : toTaskJson(record, undefined);
    };
    const ids = [...new Set(words)];
    if (ids.length > IDS_MAX) throw new WrongCall(`name at most ${IDS_MAX} tasks, not ${ids.length}`);
    if (ids.length <= 1) return { answer: await decide(readSingleId(ids, 'task')) };
    return tellEach(await decideEach(ids, decide), options.as ?? '');
  },
});

type Decided = { readonly id: string } & (
  { readonly record: object } | { readonly error: { readonly reason: string; readonly message: string } }
);

/** One after the other, so that each is booked and recorded alone. A service that cannot be asked ends it. */
async function decideEach(
  ids: readonly string[],
  decide: (id: string) => Promise<object>,
): Promise<readonly Decided[]> {
  const decided: Decided[] = [];
  for (const [at, id] of ids.entries()) {
    const one = await decideOne(id, decide);
    decided.push(one.decided);
    if (one.isHopeless) return [...decided, ...ids.slice(at + 1).map((rest) => ({ id: rest, error: NOT_SENT }))];
  }
  return decided;
}

async function decideOne(
  id: string,
  decide: (id: string) => Promise<object>,
): Promise<{ readonly decided: Decided; readonly isHopeless: boolean }> {
  try {
    return { decided: { id, record: await decide(id) }, isHopeless: false };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const { reason, message, kind } = error;
    return { decided: { id, error: { reason, message } }, isHopeless: HOPELESS.has(kind) };
  }
}

function tellEach(decided: readonly Decided[], as: string): Outcome {
  const line = (one: Decided): string =>
    'record' in one ? `${one.id}  decided as ${as}` : `${one.id}  refused: ${one.error.message} (${one.error.reason})`;
  const count = decided.filter((one) => 'record' in one).length;
  return {
    answer: decided.map((one) => ({ ok: 'record' in one, ...one })),
    text: [...decided.map(line), `${count} of ${decided.length} decided`].join('\n'),
    ok: count === decided.length,
  };
}
