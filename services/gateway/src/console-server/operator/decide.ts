import { Problem, isProblem } from '@reelgate/platform/problem';
import type { Clock } from '@reelgate/platform/clock';
import type { Log } from '@reelgate/platform/log';
import type { DecidedMoney, DecisionAnswer, DecisionRequest } from '../../../console/api/operator-attention.ts';
import type { Caller } from '../../clients/caller.ts';
import type { Act } from '../../../console/api/operator-acts.ts';
import type { ReadActs } from '../../clients/acts-client.ts';
import type { AttentionQueue, OpenMoney } from '../../clients/attention-client.ts';
import { ifReadable } from '../client/task-parts.ts';
import { toMoney } from '../views/money-view.ts';
import { dropUndefined } from '../../dialects/wire/task-fields.ts';

const DECISION = 'attention_resolved';
/** A decision is the last act over its subject, or one of the last few. */
const ACTS_READ = 20;

export interface DecideParts {
  readonly attention: AttentionQueue;
  readonly acts: ReadActs;
  readonly clock: Clock;
  readonly log: Log;
}

export interface WantedDecision extends DecisionRequest {
  readonly id: string;
  readonly actor: string;
}

/**
 * Carries out a decision, and answers what it did to the money. A page that never saw the answer sends the decision
 * again, and gets the answer to the first one. A decision of another person is told.
 */
export async function decide(parts: DecideParts, wanted: WantedDecision, caller: Caller): Promise<DecisionAnswer> {
  const { attention, acts, clock, log } = parts;
  const { id, resolution } = wanted;
  const at = await attention.decide(wanted, caller).then(
    () => clock.now(),
    async (error: unknown) => {
      if (!isProblem(error, 'not_in_attention')) throw error;
      const page = await ifReadable(log, 'acts', acts({ limit: ACTS_READ, subject: id }, caller));
      return readFirst(page?.acts ?? [], wanted, error);
    },
  );
  const money = await ifReadable(log, 'money', attention.money([id], caller));
  return { resolution, at, ...dropUndefined({ money: toDecidedMoney(money?.get(id)) }) };
}

/**
 * Returns the time at which the visitor made the same decision before. Throws if another person decided, or if no
 * decision is recorded.
 */
function readFirst(acts: readonly Act[], { resolution, actor, reason }: WantedDecision, refusal: Error): number {
  const last = acts.find(({ action }) => action === DECISION);
  if (last === undefined) throw refusal;
  const { at, detail } = last;
  if (last.actor === actor && last.reason === reason && detail['resolution'] === resolution) return at;
  throw new Problem({
    kind: 'conflict',
    reason: 'not_in_attention',
    message: `${last.actor} has decided it as ${String(detail['resolution'])}: ${last.reason}`,
    cause: refusal,
  });
}

function toDecidedMoney(money: OpenMoney | undefined): DecidedMoney | undefined {
  if (money === undefined) return undefined;
  const { heldNanos, chargedNanos, currency, settled } = money;
  const held = toMoney(heldNanos, currency);
  if (settled === 'not' || settled === 'deferred') return { held };
  const rest = heldNanos > chargedNanos ? heldNanos - chargedNanos : 0n;
  return { held, charged: toMoney(chargedNanos, currency), released: toMoney(rest, currency) };
}
