import { timestampMs } from '@bufbuild/protobuf/wkt';
import type { WebhookDelivery } from '@reelgate/proto/tasks/v1/webhook';
import type { TimelineEntry as StepRecord } from '@reelgate/proto/tasks/v1/timeline';
import type { Lane, TimelineEntry } from '../../../console/api/task.ts';
import type { TaskHold } from '../../clients/money-client.ts';
import { STEP_WORDS } from '../../clients/task-words.ts';
import type { StepName } from '../../clients/task-words.ts';
import { toMs } from '../../clients/wire-values.ts';
import { formatDecimal } from '../../domain/decimal.ts';
import { dropUndefined } from '../../dialects/wire/task-fields.ts';

const LANES: Readonly<Record<StepName, Lane>> = {
  created: 'service',
  prepared: 'service',
  submitted: 'service',
  queued: 'upstream',
  in_progress: 'upstream',
  checked: 'service',
  fetched: 'service',
  completed: 'service',
  failed: 'service',
};

export interface TimelineParts {
  readonly steps: readonly StepRecord[];
  readonly hold: TaskHold | undefined;
  readonly deliveries: readonly WebhookDelivery[];
}

/** The life of a task in one list, in the order in which its parts began. */
export function buildTimeline({ steps, hold, deliveries }: TimelineParts): readonly TimelineEntry[] {
  return [
    ...steps.flatMap(stepEntries),
    ...(hold === undefined ? [] : moneyEntries(hold)),
    ...deliveries.flatMap(deliveryEntries),
  ].toSorted((one, other) => one.from - other.from);
}

/** A step that this version does not know is left out. */
function stepEntries({ step, from, to }: StepRecord): TimelineEntry[] {
  const [name, begin] = [STEP_WORDS[step], toMs(from)];
  return name === undefined || begin === undefined ? [] : [entry(LANES[name], name, { from: begin, to: toMs(to) })];
}

function moneyEntries({ heldNanos, chargedNanos, currency, heldAt, settledAt }: TaskHold): TimelineEntry[] {
  const held = entry('money', 'held', { from: heldAt, to: settledAt, detail: formatNanos(heldNanos, currency) });
  if (settledAt === undefined || chargedNanos === undefined) return [held];
  const detail = formatNanos(chargedNanos, currency);
  return [held, entry('money', 'settled', { from: settledAt, to: settledAt, detail })];
}

/** Each attempt, and what the receiver said to it. */
function deliveryEntries({ attempts }: WebhookDelivery): TimelineEntry[] {
  return attempts.flatMap(({ at, durationMs, statusCode, error }) => {
    if (at === undefined) return [];
    const from = timestampMs(at);
    return [entry('client', 'webhook', { from, to: from + Number(durationMs), detail: String(statusCode || error) })];
  });
}

interface Span {
  readonly from: number;
  readonly to: number | undefined;
  readonly detail?: string;
}

function entry(lane: Lane, step: TimelineEntry['step'], { from, to, detail }: Span): TimelineEntry {
  return { lane, step, from, ...dropUndefined({ to, detail }) };
}

function formatNanos(nanos: bigint, currency: string): string {
  return `${formatDecimal(nanos)} ${currency}`;
}
