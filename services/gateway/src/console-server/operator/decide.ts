import { timestampMs } from '@bufbuild/protobuf/wkt';
import type { Clock } from '@reelgate/platform/clock';
import type { Log } from '@reelgate/platform/log';
import { isProblem } from '@reelgate/platform/problem';
import type { Act } from '@reelgate/proto/access/v1/act';
import type { DecidedMoney, DecisionAnswer, DecisionRequest } from '../../../console/api/operator-attention.ts';
import { withDeadline } from '../../clients/caller.ts';
import type { Caller } from '../../clients/caller.ts';
import type { AttentionQueue, OpenMoney } from '../../clients/attention-client.ts';
import type { OperatorClients } from '../../clients/gateway-clients.ts';
import { ifReadable } from '../client/task-parts.ts';
import { toMoney } from '../views/money-view.ts';
import { dropUndefined } from '../../dialects/wire/task-fields.ts';
import { refuse } from '../../refusals.ts';

const DECISION = 'attention_resolved';
/** A decision is the last act over its subject, or one of the last few. */
const ACTS_READ = 20;

export interface DecideParts {
  readonly attention: AttentionQueue;
  readonly tasks: OperatorClients['tasks'];
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
  const { attention, tasks, clock, log } = parts;
  const { id, resolution } = wanted;
  const at = await attention.decide(wanted, caller).then(
    () => clock.now(),
    async (error: unknown) => {
      if (!isProblem(error, 'not_in_attention')) throw error;
      const page = await ifReadable(
        log,
        'acts',
        tasks.listActs({ limit: ACTS_READ, subject: id }, withDeadline(caller)),
      );
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
  const { resolution: decided } = JSON.parse(last.detailJson) as { readonly resolution?: unknown };
  if (last.actor === actor && last.reason === reason && decided === resolution)
    return last.at === undefined ? 0 : timestampMs(last.at);
  throw refuse('not_in_attention', {
    message: `${last.actor} has decided it as ${String(decided)}: ${last.reason}`,
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
