import { startRelayBaseline } from './relay-baseline.ts';
import { KEYS } from '../harness/test-config.ts';
import type { TestConfig } from '../harness/test-config.ts';
import { startBenchProgram } from './bench-program.ts';
import type { BenchProgram } from './bench-program.ts';
import { fillStores } from './large-stores/fill-stores.ts';
import type { Line } from './table.ts';

const READS = 40;
const WARM_UP_READS = 5;
const P99 = 0.99;
const GOAL_MS = '50';
const OPERATOR = 'operator-key-0123456789abcdefghijkl';

/** What pages read. Few or no tasks match some of the filters, which is where a list could search everything. */
const CLIENT_READS = [
  '/home',
  '/tasks',
  '/tasks?state=running',
  '/tasks?state=failed',
  '/tasks?state=completed',
  '/tasks?model=Beta-V1',
  '/tasks?kind=regeneration',
  '/tasks?state=completed&kind=regeneration&model=Beta-V1',
  '/tasks?find=no-such-key',
  '/tasks?find=boat',
  '/tasks?find=boat%20no-such-word',
  '/tasks?find=boat&state=failed',
  '/usage?split=model',
  '/webhooks',
  '/tokens',
];
/** The calls that a page of operators sends, by its name. */
type PageCalls = readonly [page: string, ...calls: (readonly [rpc: string, request: object])[]];
const DAY_MS = 86_400_000;
const LAST_MONTH = {
  from: new Date(Date.now() - 30 * DAY_MS).toISOString(),
  to: new Date().toISOString(),
};
/** The form of a page of tasks. */
const TASKS = { limit: 50, brief: true, inSteps: true };
const OPERATOR_READS: readonly (string | PageCalls)[] = [
  '/now',
  ['attention', ['tasks.OperatorService/ListAttention', {}]],
  ['tasks', ['tasks.OperatorService/ListTaskRecords', TASKS]],
  ['failed tasks', ['tasks.OperatorService/ListTaskRecords', { ...TASKS, state: 'TASK_STATE_FAILED' }]],
  [
    'tasks of a model and an account',
    ['tasks.OperatorService/ListTaskRecords', { ...TASKS, model: 'Beta-V1', accountId: 'demo' }],
  ],
  '/channels',
  ['money', ['billing.AccountService/GetMoney', LAST_MONTH], ['billing.AccountService/ListPrices', {}]],
  ['accounts', ['billing.AccountService/ListAccounts', { limit: 50 }]],
  [
    'account',
    ['billing.AccountService/GetAccount', { id: 'demo' }],
    ['billing.AccountService/ListTokens', { accountId: 'demo' }],
    ['billing.AccountService/ListCredits', { accountId: 'demo' }],
    ['billing.AccountService/ListActs', { subject: 'demo' }],
    [
      'billing.UsageService/GetUsage',
      { ...{ accountId: 'demo', ...LAST_MONTH }, ...{ groupBy: 'USAGE_GROUP_DAY', splitBy: 'USAGE_GROUP_MODEL' } },
    ],
  ],
];

type Read = (page: string | PageCalls) => Promise<number>;

/** How long each view of the console takes with many ended tasks of one account. The baseline has empty stores. */
export async function consolePagesBench(tasks: number): Promise<readonly Line[]> {
  const relay = await startRelayBaseline();
  const programs: BenchProgram[] = [];
  try {
    for (let side = 0; side < 2; side += 1)
      programs.push(await startBenchProgram('one program', { relayTo: relay.port, change: withOperator }));
    const [baseline, product] = programs as [BenchProgram, BenchProgram];
    await fillStores(product, tasks);
    return [
      { what: 'ended tasks of the account', figure: tasks, unit: '' },
      ...(await linesOf('client', CLIENT_READS, await clientReads(baseline), await clientReads(product))),
      ...(await linesOf('operator', OPERATOR_READS, await operatorReads(baseline), await operatorReads(product))),
    ];
  } finally {
    for (const program of programs) await program.end();
    relay.stop();
  }
}

async function linesOf(
  door: string,
  pages: readonly (string | PageCalls)[],
  baseline: Read,
  product: Read,
): Promise<Line[]> {
  const lines: Line[] = [];
  for (const page of pages) {
    const name = namePage(page);
    const [before, after]: [number[], number[]] = [[], []];
    for (let read = -WARM_UP_READS; read < READS; read += 1) {
      const pair = [await baseline(page), await product(page)] as const;
      if (read < 0) continue;
      before.push(pair[0]);
      after.push(pair[1]);
    }
    lines.push(
      { what: `${door} ${name}: p50`, figure: quantile(after, 0.5), baseline: quantile(before, 0.5), unit: 'ms' },
      { what: `${door} ${name}: p99`, figure: quantile(after, P99), unit: 'ms', goal: GOAL_MS },
    );
  }
  return lines;
}

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

function clientReads({ program }: BenchProgram): Promise<Read> {
  return signedIn(program.base, { token: KEYS.demo });
}

function operatorReads({ program }: BenchProgram): Promise<Read> {
  return signedIn(`http://${program.config.gateway.admin}`, { key: OPERATOR });
}

async function signedIn(origin: string, body: object): Promise<Read> {
  const answer = await fetch(`${origin}/console/api/session`, {
    method: 'POST',
    headers: { origin, 'x-reelgate-console': '1', 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const [cookie = ''] = (answer.headers.get('set-cookie') ?? '').split(';', 1);
  return async (page) => {
    const begun = performance.now();
    const read = await (typeof page === 'string'
      ? fetch(`${origin}/console/api${page}`, { headers: { cookie } })
      : sendCalls(origin, page, cookie));
    const text = await read.text();
    if (read.status !== 200 || text.includes('"refusal"')) throw new Error(`${namePage(page)} was refused: ${text}`);
    return performance.now() - begun;
  };
}

function namePage(page: string | PageCalls): string {
  return typeof page === 'string' ? page : page[0];
}

function sendCalls(origin: string, [, ...calls]: PageCalls, cookie: string): Promise<Response> {
  return fetch(`${origin}/console/api/calls`, {
    method: 'POST',
    headers: { origin, cookie, 'x-reelgate-console': '1', 'content-type': 'application/json' },
    body: JSON.stringify({ calls: calls.map(([rpc, request]) => ({ rpc, request })) }),
  });
}

function withOperator(config: TestConfig): TestConfig {
  const changed = {
    ...config,
    operators: [{ name: 'bench', key: OPERATOR, role: 'viewer' }],
    accounts: config.accounts.map((account) => ({
      ...account,
      tokens: account.tokens.map((token) => ({ ...token, tokens: 'read' })),
    })) as typeof config.accounts,
  };
  return changed;
}
