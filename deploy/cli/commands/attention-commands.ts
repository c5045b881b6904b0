import { Problem } from '@reelgate/platform/problem';
import { deriveValues } from '@reelgate/platform/rpc/enum-words';
import type { Charge } from '@reelgate/proto/billing/v1/hold';
import { Resolution } from '@reelgate/proto/tasks/v1/operator_service';
import type { AttentionItem } from '@reelgate/proto/tasks/v1/operator_service';
import { ACTOR_OPTION, readActor } from '../environment.ts';
import { WrongCall, assertNoWords, defineCommand, readSingleId } from '../command.ts';
import type { Outcome } from '../command.ts';
import type { Services } from '../connect-services.ts';
import { formatNanos } from '../format/quantities.ts';
import { toJobJson } from '../format/job-record.ts';
import { WIDE_OPTION, toListOutcome } from '../format/table.ts';
import type { Column } from '../format/table.ts';
import { stateName, toTaskJson } from '../format/task-record.ts';
import { isoTime, relativeTime } from '../format/times.ts';

interface WaitingEntry {
  readonly item: AttentionItem;
  /** Undefined if it has no hold, or billing cannot be read. */
  readonly charge: Charge | undefined;
}

/** The most ids of one call to billing. */
const CHARGES_MAX = 100;
const COLUMNS: readonly Column<WaitingEntry>[] = [
  { title: 'ID', of: ({ item }) => item.taskId },
  { title: 'SINCE', of: ({ item }) => relativeTime(item.since) },
  { title: 'SINCE AT', of: ({ item }) => isoTime(item.since) ?? '', isWide: true },
  { title: 'REASON', of: ({ item }) => item.reason },
  { title: 'ACCOUNT', of: ({ item }) => item.accountId },
  { title: 'HELD', of: ({ charge }) => amountText(charge?.heldNanos, charge) },
  { title: 'USAGE COSTS', of: ({ charge }) => amountText(charge?.deferredNanos, charge) },
  { title: 'CHANNEL', of: ({ item }) => item.channel },
  { title: 'MODEL', of: ({ item }) => item.model, isWide: true },
  { title: 'STATE', of: ({ item }) => stateName(item.state), isWide: true },
  { title: 'DETAIL', of: ({ item }) => item.detail, shrinks: true },
];

export const attentionList = defineCommand({
  summary: 'list the tasks and jobs that wait for a decision',
  words: '',
  options: { wide: WIDE_OPTION },
  example: 'attention list',
  run: async ({ services, words, options, terminal }) => {
    assertNoWords(words);
    const { items } = await services.tasks.listAttention({});
    const charges = await readCharges(services, items);
    const waiting = items.map((item) => ({ item, charge: charges.get(item.taskId) }));
    return toListOutcome(waiting, toAttentionJson, COLUMNS, { terminal, options });
  },
});

const RESOLUTIONS: Readonly<Record<string, Resolution>> = deriveValues(Resolution);
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

function amountText(nanos: bigint | undefined, charge: Charge | undefined): string {
  return nanos === undefined ? '' : `${formatNanos(nanos)} ${charge?.currency ?? ''}`;
}

function toAttentionJson({ item, charge }: WaitingEntry): object {
  const { taskId, since, reason, detail, accountId, model, channel, state } = item;
  return {
    id: taskId,
    since: isoTime(since),
    reason,
    detail,
    account: accountId,
    model,
    channel: channel === '' ? undefined : channel,
    state: stateName(state),
    held: charge === undefined ? undefined : formatNanos(charge.heldNanos),
    deferred_amount: charge?.deferredNanos === undefined ? undefined : formatNanos(charge.deferredNanos),
    currency: charge?.currency,
  };
}

type DecisionResult = { readonly id: string } & (
  { readonly record: object } | { readonly error: { readonly reason: string; readonly message: string } }
);

/** One after the other, so that each is booked and recorded alone. A service that cannot be asked ends it. */
async function decideEach(
  ids: readonly string[],
  decide: (id: string) => Promise<object>,
): Promise<readonly DecisionResult[]> {
  const decided: DecisionResult[] = [];
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
): Promise<{ readonly decided: DecisionResult; readonly isHopeless: boolean }> {
  try {
    return { decided: { id, record: await decide(id) }, isHopeless: false };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const { reason, message, kind } = error;
    return { decided: { id, error: { reason, message } }, isHopeless: HOPELESS.has(kind) };
  }
}

function formatDecisions(decided: readonly DecisionResult[], as: string): Outcome {
  const line = (one: DecisionResult): string =>
    'record' in one ? `${one.id}  decided as ${as}` : `${one.id}  refused: ${one.error.message} (${one.error.reason})`;
  const count = decided.filter((one) => 'record' in one).length;
  return {
    answer: decided.map((one) => ({ ok: 'record' in one, ...one })),
    text: [...decided.map(line), `${count} of ${decided.length} decided`].join('\n'),
    ok: count === decided.length,
  };
}
