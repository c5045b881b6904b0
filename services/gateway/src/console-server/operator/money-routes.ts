import type { Clock } from '@reelgate/platform/clock';
import type { LedgerCheck, MoneyView } from '../../../console/api/operator-money.ts';
import type { AllMoney, Ledger } from '../../clients/ledger-client.ts';
import { formatDecimal } from '../../domain/decimal.ts';
import { covers } from '../../domain/operator-role.ts';
import type { Exchange } from '../../http/http-exchange.ts';
import { toMoney } from '../views/money-view.ts';
import { readPeriod } from '../views/period.ts';
import { operatorRoute } from './operator-route.ts';
import type { OperatorRouteEntry } from './operator-route.ts';
import { requireOperator } from './operator-session-routes.ts';

/** Of what the books keep by the hour. */
const DAYS_MAX = 31;
const FAULTS_MAX = 20;

interface Parts {
  readonly clock: Clock;
  readonly ledger: Ledger;
}

/** The money of every account, the prices, and the check of the books. */
export function moneyRoutes(parts: Parts): OperatorRouteEntry[] {
  return [
    operatorRoute({
      method: 'GET',
      path: '/money',
      name: 'getMoney',
      role: 'viewer',
      answer: (exchange) => moneyView(parts, exchange),
    }),
    operatorRoute({
      method: 'POST',
      path: '/money/verify',
      name: 'verifyLedger',
      role: 'treasurer',
      answer: (exchange) => verify(parts, exchange),
    }),
  ];
}

async function moneyView({ clock, ledger }: Parts, exchange: Exchange): Promise<MoneyView> {
  const now = clock.now();
  const { from, to } = readPeriod(new URLSearchParams(exchange.querystring), now, DAYS_MAX);
  const [money, contracts] = await Promise.all([
    ledger.money({ from, to }, exchange.state),
    ledger.contracts(exchange.state),
  ]);
  return {
    from,
    to,
    ...toMoneySums(money),
    overruns: money.overruns,
    overrunAmount: formatDecimal(money.overrunNanos),
    lapses: money.lapses,
    ...(money.lastCheck === undefined ? {} : { lastCheck: money.lastCheck }),
    contracts,
    canVerify: covers(requireOperator(exchange).role, 'treasurer'),
    now,
  };
}

function toMoneySums({ held, settled, margins }: AllMoney) {
  return {
    held: held.map(({ currency, balanceNanos, heldNanos, accounts }) => ({
      balance: toMoney(balanceNanos, currency),
      held: toMoney(heldNanos, currency),
      accounts,
    })),
    settled: settled.map(({ priceKey, currency, requests, chargedNanos }) => ({
      priceKey,
      charged: toMoney(chargedNanos, currency),
      requests,
    })),
    margins: toMargins(margins),
  };
}

/** The costs of work at its upstream, measured and estimated told apart. */
export function toMargins(margins: AllMoney['margins']): MoneyView['margins'] {
  return margins.map(({ channel, priceKey, currency, requests, chargedNanos, costNanos, ...reported }) => ({
    channel,
    priceKey,
    requests,
    charged: toMoney(chargedNanos, currency),
    cost: toMoney(costNanos, currency),
    reported: { cost: toMoney(reported.reportedCostNanos, currency), requests: reported.reportedRequests },
    estimated: {
      cost: toMoney(costNanos - reported.reportedCostNanos, currency),
      requests: requests - reported.reportedRequests,
    },
    margin: toMoney(chargedNanos - costNanos, currency),
  }));
}

async function verify({ clock, ledger }: Parts, exchange: Exchange): Promise<LedgerCheck> {
  const { name: actor } = requireOperator(exchange);
  const at = clock.now();
  const { ok, entries, faults } = await ledger.verify(actor, exchange.state);
  return { at, tookMs: clock.now() - at, ok, entries, faults: faults.slice(0, FAULTS_MAX), actor };
}
