import type { Budget } from '../../../console/api/usage.ts';
import type { AccountCaller } from '../../clients/caller.ts';
import type { RouteEntry } from '../../http/routes/route.ts';
import { consoleRoute } from '../console-route.ts';
import { PACE_DAYS, projectBudget } from '../views/usage-budget.ts';
import { questionBefore, readUsagePeriod, usageQuestion, usageView } from '../views/usage-view.ts';
import { ifReadable, toAccountCaller } from './task-parts.ts';
import type { TaskPageParts } from './task-parts.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

/** `GET /usage`: what the account was charged, by day and by model or token, before, and how long its money lasts. */
export function consoleUsageRoute(parts: TaskPageParts): RouteEntry {
  const { clock, log, usage } = parts;
  return consoleRoute({
    method: 'GET',
    path: '/usage',
    name: 'getUsage',
    answer: async (exchange) => {
      const period = readUsagePeriod(new URLSearchParams(exchange.querystring), clock.now());
      const caller = toAccountCaller(exchange);
      const [statement, before, budget] = await Promise.all([
        usage(usageQuestion(caller.accountId, period), caller.requestId),
        usage(questionBefore(caller.accountId, period), caller.requestId),
        ifReadable(log, 'budget', readBudget(parts, caller)),
      ]);
      return usageView(period, { statement, before, budget });
    },
  });
}

async function readBudget({ clock, books, usage }: TaskPageParts, caller: AccountCaller): Promise<Budget> {
  const now = clock.now();
  const today = Math.floor(now / DAY_MS) * DAY_MS;
  const [{ balanceNanos, heldNanos, currency }, { total }] = await Promise.all([
    books.account(caller),
    usage(
      { accountId: caller.accountId, from: today - PACE_DAYS * DAY_MS, to: today, groupBy: 'model' },
      caller.requestId,
    ),
  ]);
  return projectBudget({ freeNanos: balanceNanos - heldNanos, spentNanos: total.amountNanos, currency, now });
}
