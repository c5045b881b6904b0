import type { ReelgateCluster } from '../cluster/reelgate-cluster.ts';
import { cents, costOf, markOf, untilSettled, upstreamIdOf } from '../simulation/books.ts';
import { formatAmount, listAttention } from '../harness/records.ts';
import type { ShownTask } from '../harness/records.ts';
import type { Order } from './clients.ts';

const SETTLED_TIMEOUT_MS = 60_000;

interface Books {
  readonly tasks: readonly ShownTask[];
  readonly orders: readonly Order[];
  readonly works: ReelgateCluster['upstream']['works'];
}

/** What is wrong with the books once every task has ended; empty if they are right. */
export async function wrongInBooks(
  world: Pick<ReelgateCluster, 'command' | 'upstream' | 'endingEvents'>,
  orders: readonly Order[],
): Promise<readonly string[]> {
  const tasks = await untilSettled(world, 'demo', SETTLED_TIMEOUT_MS).catch((error: unknown) => error as Error);
  if (tasks instanceof Error) return [tasks.message];
  const books = { tasks, orders, works: world.upstream.works };
  return [
    ...lostOrDoubled(books),
    ...wrongOutcomes(books),
    ...(await wrongMoney(world, books)),
    ...(await wrongAttention(world, books)),
  ];
}

/** Each order that the client knows is one task, and each work of the upstream belongs to one task. */
function lostOrDoubled({ tasks, orders, works }: Books): readonly string[] {
  const byId = new Map(tasks.map((task) => [task.id, task]));
  const byUpstreamId = Map.groupBy(tasks, upstreamIdOf);
  const unknown = new Set(tasks.filter(({ admission }) => admission === 'unknown').map(markOf));
  return [
    ...orders
      .filter(({ mark, taskId }) => byId.get(taskId) === undefined || markOf(byId.get(taskId)!) !== mark)
      .map(({ mark, taskId }) => `the task ${taskId} of the order ${mark} is lost`),
    ...repeated(tasks.map(markOf)).map((mark) => `the order ${mark} has two tasks`),
    ...repeated(works.map(({ mark }) => mark)).map((mark) => `the upstream worked twice for ${mark}`),
    ...works
      .filter(({ id, mark }) => byUpstreamId.get(id)?.length !== 1 && !unknown.has(mark))
      .map(({ id, mark }) => `the work ${id} for ${mark} belongs to no task`),
  ];
}

function wrongOutcomes({ tasks, works }: Books): readonly string[] {
  const workOf = new Map(works.map((work) => [work.id, work]));
  return tasks
    .filter(({ admission }) => admission === 'accepted')
    .filter((task) => {
      const work = workOf.get(upstreamIdOf(task) ?? '');
      return (
        work === undefined || task.state !== (work.words.has('fail') ? 'TASK_STATE_FAILED' : 'TASK_STATE_COMPLETED')
      );
    })
    .map((task) => `the task ${task.id} is ${task.state}, which its work is not`);
}

/** The charges are the usage of the upstream, and only unknown outcomes have holds. */
async function wrongMoney(
  { command, endingEvents }: Pick<ReelgateCluster, 'command' | 'endingEvents'>,
  { tasks, works }: Books,
): Promise<readonly string[]> {
  const known = new Set(tasks.map(upstreamIdOf));
  const due = works.filter(({ id }) => known.has(id)).reduce((sum, work) => sum + costOf(work), 0);
  const settled = tasks.reduce((sum, { settlement }) => sum + cents(formatAmount(settlement?.amountNanos)), 0);
  const ended = tasks.filter(({ state }) => state === 'TASK_STATE_COMPLETED' || state === 'TASK_STATE_FAILED');
  const events = await endingEvents();
  const ledger = (await command('ledger', 'verify')).json as Ledger | undefined;
  return [
    ...(settled === due ? [] : [`${settled} cents are settled, ${due} are due`]),
    ...ended
      .filter(({ id }) => events.get(id) !== 1)
      .map(({ id }) => `the ended task ${id} has ${events.get(id) ?? 0} settling events`),
    ...(ledger?.ok === true ? [] : ['the ledger does not verify']),
    ...Object.entries(ledger?.sums ?? {})
      .filter(([, sum]) => Number(sum) !== 0)
      .map(([currency, sum]) => `the ledger in ${currency} sums to ${sum}`),
    ...(ledger?.unsettled_terminal_tasks ?? []).map((id) => `the task ${JSON.stringify(id)} has ended unsettled`),
    ...(ledger?.orphan_holds ?? []).map((hold) => `the hold ${JSON.stringify(hold)} has no task`),
  ];
}

interface Ledger {
  readonly ok: boolean;
  readonly sums: Readonly<Record<string, string>>;
  readonly unsettled_terminal_tasks: readonly string[];
  readonly orphan_holds: readonly string[];
}

/** Only a task whose outcome is unknown waits for a person. */
async function wrongAttention(cluster: Pick<ReelgateCluster, 'command'>, { tasks }: Books): Promise<readonly string[]> {
  const items = await listAttention(cluster).catch(() => undefined);
  if (items === undefined) return ['the attention queue cannot be read'];
  const unknown = new Set(tasks.filter(({ admission }) => admission === 'unknown').map(({ id }) => id));
  return items
    .filter(({ taskId, reason }) => reason === '' || !unknown.has(taskId))
    .map(({ taskId, reason }) => `the task ${taskId} waits in attention because of ${JSON.stringify(reason)}`);
}

function repeated(texts: readonly string[]): readonly string[] {
  return [...Map.groupBy(texts, (text) => text)].filter(([, some]) => some.length > 1).map(([text]) => text);
}
