import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { httpCaller } from '../harness/client.ts';
import type { HttpCaller } from '../harness/client.ts';
import { newProgram } from '../harness/program.ts';
import type { Program, Shape } from '../harness/program.ts';
import { startGatewayReplica } from '../harness/replica.ts';
import type { Replica } from '../harness/replica.ts';
import { startScriptedUpstream } from '../harness/scripted-upstream.ts';
import type { ScriptedUpstream } from '../harness/scripted-upstream.ts';
import type { ConfigOptions, TestConfig } from '../harness/test-config.ts';
import { describeWith } from '../servers/describe-with.ts';
import { natsServer } from '../servers/nats-server.ts';
import { redisServer } from '../servers/redis-server.ts';

const TIMEOUT_MS = 120_000;
const CHILDREN = 6;
/** Each asks six times, so the program is polled for the end of a task, which it learns within half a second. */
const ROUNDS_MAX = 2000;

interface Row {
  /** A limit of a maker in the configuration. Each of its children gets the same for itself. */
  readonly limit: { readonly limits: Readonly<Record<string, number>> } | { readonly limit: string };
  readonly form: object;
  /** What each child does twice. */
  readonly use: readonly [method: string, target: string, body?: unknown];
  /** How often the children can do it together. */
  readonly fits: number;
  /** The answer once it is refused. */
  readonly refusal: { readonly status: number; readonly code: string };
}

const TOO_OFTEN = { status: 429, code: 'rate_limit_exceeded' };
const CREATE = [
  'POST',
  '/v1/videos',
  { model: 'Alpha-H3', prompt: 'a boat [gate]', seconds: '5', size: '1280x720' },
] as const;
const ROWS: Readonly<Record<string, Row>> = {
  in_flight: {
    limit: { limits: { in_flight: 1 } },
    form: { inFlight: 1 },
    use: CREATE,
    fits: 1,
    refusal: { status: 429, code: 'too_many_tasks' },
  },
  creates_per_minute: {
    limit: { limits: { creates_per_minute: 3 } },
    form: { createsPerMinute: 3 },
    use: ['POST', '/v1/videos', {}],
    fits: 3,
    refusal: TOO_OFTEN,
  },
  reads_per_minute: {
    limit: { limits: { reads_per_minute: 3 } },
    form: { readsPerMinute: 3 },
    use: ['GET', '/v1/videos?limit=1'],
    fits: 3,
    refusal: TOO_OFTEN,
  },
  calls_per_minute: {
    limit: { limits: { calls_per_minute: 3 } },
    form: { callsPerMinute: 3 },
    use: ['POST', '/v1/chat/completions', { model: 'none', messages: [] }],
    fits: 3,
    refusal: TOO_OFTEN,
  },
  // a task costs 0.40
  limit: {
    limit: { limit: '0.90' },
    form: { limit: '0.90' },
    use: CREATE,
    fits: 2,
    refusal: { status: 429, code: 'insufficient_quota' },
  },
};
const keyOf = (limit: string): string => `sk-of-${limit}-0123456789`;

/** A maker for each limit. */
function withMakers(config: TestConfig): TestConfig {
  const makers = Object.entries(ROWS).map(([name, { limit }]) => ({
    key: keyOf(name),
    models: ['*'],
    tokens: 'write',
    ...limit,
  }));
  const accounts = config.accounts.map((account) =>
    account.id === 'demo' ? { ...account, tokens: [...account.tokens, ...makers] } : account,
  );
  return { ...config, accounts } as TestConfig;
}

/** Makes tokens at the console as the token of the key. */
async function makeChildren(base: string, key: string, form: object): Promise<string[]> {
  const { call } = httpCaller(base, undefined);
  const own = { origin: base, 'x-reelgate-console': '1' };
  const session = await call('POST', '/console/api/session', { token: key }, own);
  const [cookie = ''] = (session.headers.get('set-cookie') ?? '').split(';');
  const keys: string[] = [];
  for (let child = 0; child < CHILDREN; child += 1) {
    const body = { name: `child ${child}`, models: ['*'], webhooks: 'none', tokens: 'none', ...form };
    const { json, text } = await call('POST', '/console/api/tokens', body, { ...own, cookie });
    if (json.key === undefined) throw new Error(`no token was made: ${text}`);
    keys.push(json.key as string);
  }
  return keys;
}

function suite(shape: Shape, options: () => Pick<ConfigOptions, 'bus' | 'redis'> = () => ({})): void {
  let upstream: ScriptedUpstream | undefined;
  let program: Program;
  let replica: Replica | undefined;
  beforeAll(async () => {
    upstream = await startScriptedUpstream();
    program = await newProgram(shape, { upstream: upstream.host, ...options() }, withMakers);
    await program.start();
    await program.ready();
    if (shape === 'four processes') replica = await startGatewayReplica(program);
  }, TIMEOUT_MS);
  afterAll(async () => {
    await replica?.stop();
    await program?.end();
    await upstream?.stop();
  }, TIMEOUT_MS);

  /** The callers of the keys, in turn at each of the replicas. */
  const callersOf = (keys: readonly string[]): HttpCaller[] => {
    const bases = [program.base, ...(replica === undefined ? [] : [`http://${replica.listen}`])];
    return keys.map((key, at) => httpCaller(bases[at % bases.length] ?? program.base, key));
  };

  test.each(Object.entries(ROWS))(
    '%s of a maker bounds what six tokens that it made do together',
    async (name, { form, use, fits, refusal }) => {
      const maker = keyOf(name);
      const callers = callersOf(await makeChildren(program.base, maker, form));
      const answers = await Promise.all([...callers, ...callers].map((caller) => caller.call(...use)));
      const own = await httpCaller(program.base, maker).call(...use);

      const refused = answers.filter(({ json }) => json.error?.code === refusal.code);
      expect(answers.length - refused.length).toBe(fits);
      expect(refused.filter(({ status }) => status !== refusal.status)).toEqual([]);
      expect(refused.map(({ json }) => json.error.message).join()).toMatch(/the (token|API key) that made this one/);
      expect({ status: own.status, code: own.json.error.code }).toEqual(refusal);
      expect(own.json.error.message).not.toContain('that made this one');
    },
    TIMEOUT_MS,
  );

  test(
    'the end of a task makes room for a task of another token of the tree',
    async () => {
      const callers = callersOf(await makeChildren(program.base, keyOf('in_flight'), { inFlight: 1 }));
      upstream?.openGate();
      for (let round = 0; round < ROUNDS_MAX; round += 1) {
        const answers = await Promise.all(callers.map((caller) => caller.call(...CREATE)));
        const at = answers.findIndex(({ status }) => status === 200);
        if (at < 0) continue;
        expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
        upstream?.openGate();
        return;
      }
      throw new Error('no task of the tree was taken after one had ended');
    },
    TIMEOUT_MS,
  );
}

describe('tokens made by a token in one program', () => {
  suite('one program');
});

describeWith(natsServer, 'tokens made by a token over gRPC', (bus) => {
  describeWith(redisServer, 'at two gateways that share their counters', (redis) => {
    suite('four processes', () => ({ bus: bus(), redis: redis() }));
  });
});
