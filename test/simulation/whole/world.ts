import type { Acts } from './acts.ts';
import type { Draws } from './draws.ts';
import type { EventLog } from './event-log.ts';
import type { Faults } from './faults.ts';
import type { Machine } from './machine.ts';
import type { Orders } from './orders.ts';
import type { Rules } from './rules/rules.ts';
import type { Scheduler } from './scheduler.ts';
import type { Variation } from './simulated-config.ts';
import type { Team } from './team.ts';
import { LostAnswer } from './simulated-http.ts';
import type { HttpAnswer, HttpOrder, SendOptions } from './simulated-http.ts';

const SHOWN_MAX = 160;
const RETRY_FACTOR_MAX = 4;

/** What everything outside the program shares: clients, operators, and the callbacks of upstreams. */
export interface World {
  readonly scheduler: Scheduler;
  readonly draws: Draws;
  readonly faults: Faults;
  readonly machine: Machine;
  readonly events: EventLog;
  readonly rules: Rules;
  readonly orders: Orders;
  readonly acts: Acts;
  readonly variation: Variation;
  readonly team: Team;
}

/** A client comes again after an answer with this status; after any other refusal it does not. */
export function mayRepeat({ status }: Pick<HttpAnswer, 'status'>): boolean {
  return status === 429 || status === 409 || status >= 500;
}

/** After each refusal by a limit, a client waits twice as long, as the official SDKs do, up to a bound. */
export function computeRetryFactor(refusals: number): number {
  return Math.min(RETRY_FACTOR_MAX, 2 ** Math.max(0, refusals - 1));
}

/** The members of an answer; none if it is no JSON object. */
export function readMembers({ text }: HttpAnswer): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(text) as Readonly<Record<string, unknown>>;
  } catch {
    return {};
  }
}

/** The ids of the entries of a list. None if the list is not answered. */
export function readListedIds(answer: HttpAnswer | undefined): readonly string[] {
  if (answer?.status !== 200) return [];
  const entries = (readMembers(answer)['data'] ?? []) as readonly { readonly id: string }[];
  return entries.map(({ id }) => id);
}

/** The work of a request has its id, and so the choices and the lines of that work have the name of the request. */
export function toRequestId(name: string): string {
  return name.replaceAll(/[^\w.:-]+/g, '.');
}

/** Sends a request of a client and writes what came of it; undefined: no whole answer came. */
export async function sendOrder(
  { machine, events, scheduler, rules }: World,
  name: string,
  order: HttpOrder,
  options: SendOptions = {},
): Promise<HttpAnswer | undefined> {
  const note = (text: string): void => {
    events.write(scheduler.now(), 'client', `${name}: ${order.method} ${order.path} ${text}`);
  };
  const sentAt = scheduler.now();
  try {
    const headers = { 'x-request-id': toRequestId(name), ...order.headers };
    const answer = await machine.send({ ...order, headers }, options);
    note(`is answered ${answer.status} ${answer.text.slice(0, SHOWN_MAX)}`);
    rules.answered(order, answer, sentAt);
    return answer;
  } catch (error) {
    if (!(error instanceof LostAnswer)) throw error;
    note('has no answer');
    return undefined;
  }
}
