import { Problem } from '@reelgate/platform/problem';
import { deriveValues } from '@reelgate/platform/rpc/enum-words';
import type { Charge } from '@reelgate/proto/billing/v1/hold';
import { AttentionItemSchema, Resolution } from '@reelgate/proto/tasks/v1/operator_service';
import type { AttentionItem, ResolveAttentionResponse } from '@reelgate/proto/tasks/v1/operator_service';
import { ACTOR_OPTION, readActor } from '../environment.ts';
import { WrongCall, assertNoWords, defineCommand, readSingleId } from '../command.ts';
import type { Outcome } from '../command.ts';
import type { Services } from '../connect-services.ts';
import { formatNanos } from '../format/quantities.ts';
import { WIDE_OPTION, listColumns, toListOutcome } from '../format/table.ts';
import type { Column } from '../format/table.ts';

/** The maximum number of ids in one call to billing. */
const CHARGES_MAX = 100;
function toColumns(charges: ReadonlyMap<string, Charge>): readonly Column<AttentionItem>[] {
  return listColumns(AttentionItemSchema, [
    { field: 'taskId', title: 'ID' },
    'since',
    'reason',
    'accountId',
    { title: 'HELD', of: ({ taskId }) => formatAmount(charges.get(taskId), 'heldNanos') },
    { title: 'USAGE COSTS', of: ({ taskId }) => formatAmount(charges.get(taskId), 'deferredNanos') },
    'channel',
    { field: 'model', isWide: true },
    { field: 'state', isWide: true },
    { field: 'detail', shrinks: true },
  ]);
}

export const attentionList = defineCommand({
  summary: 'list the tasks and jobs that wait for a decision',
  words: '',
  options: { wide: WIDE_OPTION },
  example: 'attention list',
  run: async ({ services, words, options, terminal }) => {
    assertNoWords(words);
    const { items } = await services.tasks.listAttention({});
    const charges = await readCharges(services, items);
    const answer = { items, charges: [...charges.values()] };
    return toListOutcome(answer, items, toColumns(charges), { terminal, options });
  },
});

const RESOLUTIONS: Readonly<Record<string, Resolution>> = deriveValues(Resolution);
/** The maximum number of tasks and jobs in one call. */
const IDS_MAX = 200;
/** Refusals that the next task or job would get too. */
const HOPELESS: ReadonlySet<string> = new Set(['unavailable', 'unauthenticated', 'forbidden']);
const NOT_SENT = { reason: 'not_sent', message: 'not decided, because the decision before it could not be sent' };

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
    const decide = (taskId: string): Promise<ResolveAttentionResponse> =>
      services.tasks.resolveAttention({
        taskId,
        resolution: RESOLUTIONS[options.as ?? ''] ?? Resolution.UNSPECIFIED,
        reason: options.reason ?? '',
        actor: readActor(options.actor, environment),
      });
    const ids = [...new Set(words)];
    if (ids.length > IDS_MAX) throw new WrongCall(`name at most ${IDS_MAX} tasks, not ${ids.length}`);
    if (ids.length <= 1) return { answer: await decide(readSingleId(ids, 'task')) };
    return formatDecisions(await decideEach(ids, decide), options.as ?? '');
  },
});

/** Reads the charges of the queue. While billing cannot be read, the queue is shown without them. */
async function readCharges(
  { billing }: Services,
  items: readonly AttentionItem[],
): Promise<ReadonlyMap<string, Charge>> {
  const ids = items.map(({ taskId }) => taskId);
  const charges = new Map<string, Charge>();
  try {
    for (let from = 0; from < ids.length; from += CHARGES_MAX) {
      const answer = await billing.listCharges({ taskIds: ids.slice(from, from + CHARGES_MAX) });
      for (const charge of answer.charges) charges.set(charge.taskId, charge);
    }
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
  }
  return charges;
}

function formatAmount(charge: Charge | undefined, amount: 'heldNanos' | 'deferredNanos'): string {
  const nanos = charge?.[amount];
  return nanos === undefined ? '' : `${formatNanos(nanos)} ${charge?.currency ?? ''}`;
}

type DecisionResult = { readonly taskId: string } & (
  | { readonly answer: ResolveAttentionResponse }
  | { readonly error: { readonly reason: string; readonly message: string } }
);

/** Decides one after the other, so that each is booked and recorded alone. Stops if a service cannot be reached. */
async function decideEach(
  ids: readonly string[],
  decide: (taskId: string) => Promise<ResolveAttentionResponse>,
): Promise<readonly DecisionResult[]> {
  const decided: DecisionResult[] = [];
  for (const [at, id] of ids.entries()) {
    const one = await decideOne(id, decide);
    decided.push(one.decided);
    if (one.isHopeless) return [...decided, ...ids.slice(at + 1).map((taskId) => ({ taskId, error: NOT_SENT }))];
  }
  return decided;
}

async function decideOne(
  taskId: string,
  decide: (taskId: string) => Promise<ResolveAttentionResponse>,
): Promise<{ readonly decided: DecisionResult; readonly isHopeless: boolean }> {
  try {
    return { decided: { taskId, answer: await decide(taskId) }, isHopeless: false };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const { reason, message, kind } = error;
    return { decided: { taskId, error: { reason, message } }, isHopeless: HOPELESS.has(kind) };
  }
}

function formatDecisions(decided: readonly DecisionResult[], as: string): Outcome {
  const line = (one: DecisionResult): string =>
    'answer' in one
      ? `${one.taskId}  decided as ${as}`
      : `${one.taskId}  refused: ${one.error.message} (${one.error.reason})`;
  const count = decided.filter((one) => 'answer' in one).length;
  return {
    answer: { decisions: decided },
    text: [...decided.map(line), `${count} of ${decided.length} decided`].join('\n'),
    ok: count === decided.length,
  };
}
