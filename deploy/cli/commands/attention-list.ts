import { Problem } from '@reelgate/platform/problem';
import type { Charge } from '@reelgate/proto/billing/v1/hold';
import type { AttentionItem } from '@reelgate/proto/tasks/v1/operator_service';
import { defineCommand, assertNoWords } from '../command.ts';
import type { Services } from '../connect-services.ts';
import { formatNanos } from '../format/amount.ts';
import { WIDE_OPTION, asTable } from '../format/table.ts';
import type { Column } from '../format/table.ts';
import { stateName } from '../format/task-record.ts';
import { isoTime, relativeTime } from '../format/times.ts';

/** The most ids of one call to billing. */
const CHARGES_MAX = 100;

interface Waiting {
  readonly item: AttentionItem;
  /** Undefined: it has no hold, or billing cannot be read. */
  readonly charge: Charge | undefined;
}

const COLUMNS: readonly Column<Waiting>[] = [
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
    return {
      answer: waiting.map(toAttentionJson),
      text: asTable(waiting, COLUMNS, { terminal, isWide: options.wide }),
    };
  },
});

/** The queue is told without its money while billing cannot be read. */
async function readCharges(
  { billing }: Pick<Services, 'billing'>,
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

function toAttentionJson({ item, charge }: Waiting): object {
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
