import { TaskState } from '@reelgate/proto/tasks/v1/task';
import type { Task } from '@reelgate/proto/tasks/v1/task';
import type { ListTasksResponse } from '@reelgate/proto/tasks/v1/task_service';
import type { Home, HomeMoney, Limit } from '../../../console/api/home.ts';
import type { AccountCaller } from '../../clients/caller.ts';
import type { Principal } from '../../clients/billing-client.ts';
import { requirePrincipal } from '../../http/http-exchange.ts';
import type { RouteEntry } from '../../http/routes/route.ts';
import { consoleRoute } from '../console-route.ts';
import { toMoney } from '../views/money-view.ts';
import { dropUndefined } from '../../dialects/wire/task-fields.ts';
import { hasVideo, taskRow } from '../views/task-view.ts';
import { toAccountCaller, ifReadable } from './task-parts.ts';
import type { TaskPageParts } from './task-parts.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const DAYS = 30;
const RUNNING_MAX = 20;
const FAILURES_MAX = 5;
const RECENT_MAX = 8;
/** Some of the completed ones have no video, or none any more. */
const COMPLETED_MAX = 30;
const ISO_DAY_CHARACTERS = 10;

/** `GET /home`: the money, the running tasks and the last results of the account. */
export function homeRoute(parts: TaskPageParts): RouteEntry {
  return consoleRoute({
    method: 'GET',
    path: '/home',
    name: 'getHome',
    answer: (exchange) => readHome(parts, toAccountCaller(exchange), requirePrincipal(exchange)),
  });
}

async function readHome(parts: TaskPageParts, caller: AccountCaller, principal: Principal): Promise<Home> {
  const { clock, log, books, limits } = parts;
  const list = (limit: number, ...states: TaskState[]): Promise<ListTasksResponse> =>
    parts.taskPages.list(caller, { limit, states });
  const [money, running, failures, completed] = await Promise.all([
    ifReadable(log, 'money', homeMoney(parts, caller)),
    list(RUNNING_MAX, TaskState.QUEUED, TaskState.IN_PROGRESS),
    list(FAILURES_MAX, TaskState.FAILED),
    list(COMPLETED_MAX, TaskState.COMPLETED),
  ]);
  const now = clock.now();
  const recent = completed.tasks.filter((task) => hasVideo(task, now)).slice(0, RECENT_MAX);
  const ids = [running.tasks, failures.tasks, recent].flat().map(({ id }) => id);
  const charges = await ifReadable(log, 'charges', books.charges(caller, ids));
  const rows = (tasks: readonly Task[]) => tasks.map((task) => taskRow(task, charges?.get(task.id), now));
  return {
    ...dropUndefined({ money }),
    running: rows(running.tasks),
    failures: rows(failures.tasks),
    recent: rows(recent),
    limits: listLimits(principal, limits),
    now,
  };
}

/** One statement by days has both sums: that of today, and that of all days. */
async function homeMoney({ clock, books, usage }: TaskPageParts, caller: AccountCaller): Promise<HomeMoney> {
  const today = Math.floor(clock.now() / DAY_MS) * DAY_MS;
  const period = { from: today - (DAYS - 1) * DAY_MS, to: today + DAY_MS, groupBy: 'day' as const };
  const [{ balanceNanos, heldNanos, currency }, { groups, total }] = await Promise.all([
    books.account(caller),
    usage({ accountId: caller.accountId, ...period }, caller.requestId),
  ]);
  const day = new Date(today).toISOString().slice(0, ISO_DAY_CHARACTERS);
  return {
    balance: toMoney(balanceNanos, currency),
    held: toMoney(heldNanos, currency),
    free: toMoney(balanceNanos - heldNanos, currency),
    spentToday: toMoney(groups.find(({ key }) => key === day)?.amountNanos ?? 0n, currency),
    spent30Days: toMoney(total.amountNanos, currency),
  };
}

/** The limit on tasks in flight is known here if the token has one of its own. */
function listLimits({ limits: own }: Principal, limits: TaskPageParts['limits']): readonly Limit[] {
  return [
    { name: 'creates_per_minute', limit: own?.createsPerMinute ?? limits.createsPerMinute },
    { name: 'reads_per_minute', limit: own?.readsPerMinute ?? limits.readsPerMinute },
    { name: 'calls_per_minute', limit: own?.callsPerMinute ?? limits.callsPerMinute },
    ...(own?.inFlight === undefined ? [] : [{ name: 'in_flight' as const, limit: own.inFlight }]),
  ];
}
