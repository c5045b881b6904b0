import type { Act as WireAct } from '@reelgate/proto/access/v1/act';
import type { Act } from '../domain/operator-records.ts';
import { withDeadline } from './caller.ts';
import type { Caller } from './caller.ts';
import type { OperatorClients } from './gateway-clients.ts';
import { toMs } from './wire-values.ts';
import type { MessageMapping } from './wire-values.ts';

export interface ActsQuestion {
  /** 1 to 200. */
  readonly limit: number;
  /** The act after which the page starts; undefined if it starts with the newest act. */
  readonly after?: string | undefined;
  /** The subject of the acts; undefined if all are listed. */
  readonly subject?: string | undefined;
}

export interface ActsPage {
  /** The newest first. */
  readonly acts: readonly Act[];
  readonly hasMore: boolean;
}

export type ReadActs = (question: ActsQuestion, caller: Caller) => Promise<ActsPage>;

/** Reads the acts of both services as one list: the ids of both sort by time. */
export function actsReader({ tasks, accounts }: OperatorClients): ReadActs {
  return async ({ limit, after = '', subject = '' }, caller) => {
    const question = { limit, after, subject };
    const options = withDeadline(caller);
    const answers = await Promise.all([tasks.listActs(question, options), accounts.listActs(question, options)]);
    const all = answers
      .flatMap(({ acts }) => acts)
      .map(fromWireAct)
      .sort(newestFirst);
    const isFull = answers.some(({ acts }) => acts.length === limit);
    return { acts: all.slice(0, limit), hasMore: all.length > limit || isFull };
  };
}

function newestFirst(one: Act, other: Act): number {
  if (one.id === other.id) return 0;
  return one.id < other.id ? 1 : -1;
}

export function fromWireAct({ id, at, actor, action, subject, reason, detailJson }: WireAct): Act {
  return {
    ...({ id, at: toMs(at) ?? 0, actor, action, subject, reason } satisfies MessageMapping<WireAct, 'detailJson'>),
    detail: parseDetail(detailJson),
  };
}

function parseDetail(json: string): Readonly<Record<string, unknown>> {
  return json === '' ? {} : (JSON.parse(json) as Readonly<Record<string, unknown>>);
}
