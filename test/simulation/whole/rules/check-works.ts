import type { Acts } from '../acts.ts';
import type { UpstreamWorks, Work, WorkState } from '../upstream-works.ts';
import { WAITS } from './check-rest.ts';
import type { BreakRule, ReadStore, Row } from './read-stores.ts';

/** What the work of a failed task can have come to. */
const UNPAID: ReadonlySet<WorkState> = new Set(['failed', 'cancelled', 'lost']);

export interface WorksParts {
  readonly read: ReadStore;
  readonly works: UpstreamWorks;
  readonly breakRule: BreakRule;
  readonly acts: Acts;
  /** Reports whether the product has lost what it knew from this time on. */
  readonly isForgotten: (at: number) => boolean;
}

const OWNERS = `SELECT t.id, t.upstream_account, t.upstream_id, t.order_json, t.state, t.deleted_at, ${WAITS} AS waits
  FROM tasks t`;

/** Every accepted work belongs to one task, unless its upstream has lost it, or the task of its order waits for a person. */
export function checkWorks(parts: WorksParts): void {
  const { read, works, breakRule, isForgotten } = parts;
  const owners = read('tasks', OWNERS);
  for (const work of works.all()) {
    const own = owners.filter(
      ({ upstream_account: account, upstream_id: id }) => account === work.account && id === work.id,
    );
    const isAwaited =
      work.source !== undefined ||
      owners.some(({ order_json: order, waits }) => waits === 1 && String(order).includes(`[${work.order}]`));
    // the task can have the work that its order had before a restore, or the one after it
    const isOfLostTime = works.all().some(({ order, createdAt }) => order === work.order && isForgotten(createdAt));
    const mayBeMissing = isAwaited || (own.length === 0 && isOfLostTime);
    if (own.length !== 1 && !mayBeMissing && works.readState(work) !== 'lost')
      breakRule('every accepted work belongs to one task', `${work.id} of ${work.order} has ${own.length}`);
    const [owner] = own;
    if (owner !== undefined) checkOwner(parts, work, owner);
  }
}

/** The task of a work is that of its order, and what became of the work became of the task. */
function checkOwner({ works, breakRule, acts }: WorksParts, work: Work, owner: Row): void {
  const state = works.readState(work);
  if (owner['waits'] === 1 && state === 'pondering') acts.note('work in an unknown state waits for a person');
  // a deleted task has no prompt any more, and a remix has never had one
  const isTold = work.source === undefined && owner['deleted_at'] === null;
  if (isTold && !String(owner['order_json']).includes(`[${work.order}]`))
    breakRule('a task has the work of its own order', `${String(owner['id'])} has ${work.id} of ${work.order}`);
  if (owner['state'] === 'completed' && state !== 'succeeded')
    breakRule('a completed task has work that succeeded', `${String(owner['id'])} has ${work.id}`);
  if (owner['state'] === 'failed' && !UNPAID.has(state))
    breakRule('a failed task has no work that succeeds', `${String(owner['id'])} has ${work.id}`);
}
