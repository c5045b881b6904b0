import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { until } from '@reelgate/platform/testing/until';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { connectGrpc } from '@reelgate/platform/rpc/grpc/client';
import type { GrpcConnection } from '@reelgate/platform/rpc/grpc/client';
import { Secret } from '@reelgate/platform/secret';
import { CallService } from '@reelgate/proto/billing/v1/call_service';
import { Basis } from '@reelgate/proto/billing/v1/hold';
import { UsageGroup, UsageService } from '@reelgate/proto/billing/v1/usage_service';
import type { GetUsageResponseJson } from '@reelgate/proto/billing/v1/usage_service';
import type { ListPricesResponseJson } from '@reelgate/proto/billing/v1/account_service';
import { callKey } from '../../deploy/program/keys/identities.ts';
import { httpCaller } from '../harness/client.ts';
import type { HttpCaller } from '../harness/client.ts';
import { newProgram } from '../harness/program.ts';
import type { Program, Shape } from '../harness/program.ts';
import { createToken, formatAmount, listTokens, readAccount, showTask } from '../harness/records.ts';
import { startScriptedUpstream } from '../harness/scripted-upstream.ts';
import type { ScriptedUpstream } from '../harness/scripted-upstream.ts';
import { KEYS, SIGNING_KEY, callerKey } from '../harness/test-config.ts';
import type { TestConfig } from '../harness/test-config.ts';
import { describeWith } from '../servers/describe-with.ts';
import { natsServer } from '../servers/nats-server.ts';

const TIMEOUT_MS = 120_000;
const SOON_MS = 60_000;
/** A slow machine takes longer, by at most this many times what a call takes on it. */
const CALLS_MAX = 30;
const HOUR_MS = 3_600_000;
const CHAT = { per_million_tokens: { input: '1', output: '4' }, hold: '0.01' };
const DISCOUNTED = {
  per_second: { '768P': '0.08', '2K': '0.13' },
  images: { free: 5, each: '0.04' },
  class_discounts: { batch: '0.5' },
};

describe('one program', () => {
  moneySuite('one program');
});

describeWith(natsServer, 'four processes', (bus) => {
  moneySuite('four processes', bus);
});

/** The money as an operator and a client see it, through real processes. */
function moneySuite(shape: Shape, bus?: () => string): void {
  let upstream: ScriptedUpstream;
  let program: Program;
  let billing: GrpcConnection;
  let demo: HttpCaller;

  beforeAll(async () => {
    upstream = await startScriptedUpstream();
    program = await newProgram(
      shape,
      { upstream: upstream.host, bus: bus?.() },
      (config) => ({ ...config, prices: { ...config.prices, chat: CHAT, 'Alpha-H3': DISCOUNTED } }) as TestConfig,
    );
    await program.start();
    demo = httpCaller(program.base, KEYS.demo);
    billing = connectGrpc(program.config.billing.listen, callKey('gateway', 'billing', new Secret(SIGNING_KEY)));
  }, TIMEOUT_MS);

  afterAll(async () => {
    billing?.close();
    await program?.end();
    await upstream?.stop();
  }, TIMEOUT_MS);

  const generation = (text: string) => ({
    model: 'Alpha-H3',
    content: [{ type: 'text', text }],
    duration: 5,
    resolution: '768P',
    ratio: '16:9',
  });
  const shown = async <T>(...words: string[]): Promise<T> => {
    const { code, json, err } = await program.command(...words);
    if (code !== 0) throw new Error(err);
    return json as T;
  };
  const newToken = (...flags: string[]) => createToken(program, 'demo', ...flags);
  const taskOf = (taskId: string) => showTask(program, taskId);
  const isCurrent = async (price: string, wanted: number): Promise<boolean> => {
    const { contracts = [] } = await shown<ListPricesResponseJson>('price', 'list');
    return contracts.some(({ key, version, current }) => key === price && version === wanted && current);
  };

  test(
    'a revoked token is refused within a second, and so is every create with it',
    async () => {
      const { id: tokenId, key } = await newToken();
      const caller = httpCaller(program.base, key);
      expect((await caller.call('GET', '/v1/models')).status).toBe(200);
      const asked = performance.now();
      await caller.call('GET', '/v1/models');
      const callMs = performance.now() - asked;

      await program.command('token', 'revoke', tokenId);
      const begun = performance.now();
      while ((await caller.call('GET', '/v1/models')).status !== 403 && performance.now() - begun < SOON_MS)
        await wait(10);

      expect(performance.now() - begun).toBeLessThan(1000 + CALLS_MAX * callMs);
      expect((await caller.call('POST', '/v1/videos', { model: 'Alpha-H3', prompt: 'x' })).json.error.code).toBe(
        'token_disabled',
      );
    },
    TIMEOUT_MS,
  );

  test(
    'a create costs at most its bound, and in the class batch what its estimate says',
    async () => {
      const boat = { model: 'Alpha-H3', prompt: 'a boat', seconds: '5', resolution: '768P' };
      const batch = { prefer: 'class=batch' };
      const { json: quote } = await demo.call('POST', '/v1/videos/estimate', boat, batch);
      const refused = await demo.call('POST', '/v1/videos', { ...boat, max_amount: quote.max_amount });
      const other = await demo.call('POST', '/v1/videos', { ...boat, max_amount: '1', currency: 'EUR' });
      const id = await demo.create('/v1/videos', { ...boat, max_amount: quote.max_amount, currency: 'USD' }, batch);
      await demo.finish(id);

      expect(quote).toMatchObject({ amount: '0.2', max_amount: '0.2', contract: 'Alpha-H3__batch' });
      expect([refused.status, refused.json.error]).toMatchObject([
        422,
        { code: 'price_above_max', metadata: { amount: '0.4', max_amount: '0.4', currency: 'USD' } },
      ]);
      expect([other.status, other.json.error.param]).toEqual([400, 'currency']);
      expect(await taskOf(id)).toMatchObject({ hold: { amountNanos: '200000000', currency: 'USD' } });
    },
    TIMEOUT_MS,
  );

  test(
    "a token's own limits replace those of the configuration",
    async () => {
      const { key } = await newToken(
        '--reads-per-minute',
        '3',
        '--creates-per-minute',
        '4',
        '--in-flight',
        '1',
        '--name',
        'small',
      );
      const caller = httpCaller(program.base, key);
      const codes: unknown[] = [];
      for (let read = 0; read < 4; read += 1) codes.push((await caller.call('GET', '/v1/models')).status);
      const creates = [];
      for (let create = 0; create < 5; create += 1)
        creates.push(await caller.call('POST', '/v2/video_generation', generation('[take:1500] a slow boat')));

      expect(codes).toEqual([200, 200, 200, 429]);
      expect(creates.map(({ status }) => status)).toEqual([200, 429, 429, 429, 429]);
      expect(creates[1]!.json.error.message).toMatch(/in flight|tasks/);
      expect((await listTokens(program, 'demo')).find(({ name }) => name === 'small')).toMatchObject({
        limits: { inFlight: 1, readsPerMinute: 3, createsPerMinute: 4 },
      });
      await demo.finish((creates[0]!.json as { task_id: string }).task_id);
    },
    TIMEOUT_MS,
  );

  test(
    'a task that runs when its price changes is charged by the price of its hold',
    async () => {
      const calls = billing.client(CallService);
      const order = (callId: string) => ({
        callId,
        accountId: 'demo',
        tokenId,
        priceKeys: ['chat__chat', 'chat'],
        facts: { inputTokens: 1000n, outputTokens: 1000n },
        lapsesAt: timestampFromMs(Date.now() + HOUR_MS),
      });
      const { id: tokenId } = await newToken();
      const [before] = [
        await demo.create('/v2/video_generation', generation('[take:3000] [seconds:6] a boat of before')),
      ];
      const placed = await calls.placeCalls({ calls: [order('call_before')] });

      const file = path.join(path.dirname(program.config.data_dir), 'reelgate.yaml');
      const { prices } = program.config;
      writeFileSync(
        file,
        JSON.stringify({
          ...program.config,
          prices: { ...prices, 'Alpha-H3': { per_second: '1' }, chat: { per_request: '2' } },
        }),
      );
      for (const pid of program.pids()) process.kill(pid, 'SIGHUP');
      await until(() => isCurrent('chat', 2));
      const after = await demo.create('/v2/video_generation', generation('[seconds:6] a boat of after'));
      const later = await calls.placeCalls({ calls: [order('call_after'), order('call_before')] });
      const used = { basis: Basis.USAGE, usage: { inputTokens: 500n, outputTokens: 100n } };
      const { settlements } = await calls.settleCalls({
        ends: [
          { callId: 'call_before', ...used },
          { callId: 'call_after', ...used },
        ],
      });
      await Promise.all([before, after].map((taskId) => demo.finish(taskId)));
      await until(async () =>
        (await Promise.all([before, after].map(taskOf))).every(({ settlement }) => settlement !== undefined),
      );

      expect(await Promise.all([before, after].map(taskOf))).toMatchObject([
        {
          hold: { amountNanos: '400000000', version: 1 },
          settlement: { amountNanos: '480000000', basis: 'BASIS_USAGE' },
        },
        {
          hold: { amountNanos: '5000000000', version: 2 },
          settlement: { amountNanos: '6000000000', basis: 'BASIS_USAGE' },
        },
      ]);
      expect([...placed.placed, ...later.placed].map(({ result }) => result.value)).toMatchObject([
        { amountNanos: 5_000_000n, version: 1 },
        { amountNanos: 2_000_000_000n, version: 2 },
        { amountNanos: 5_000_000n, version: 1 },
      ]);
      expect(settlements.map(({ amountNanos }) => amountNanos)).toEqual([900_000n, 2_000_000_000n]);

      // no signal: the programs follow the file
      writeFileSync(file, JSON.stringify(program.config));
      await until(() => isCurrent('chat', 3));
    },
    TIMEOUT_MS,
  );

  test(
    'task show lists the money of a task line by line, and the deferred charge of a usage far above its hold',
    async () => {
      const taskId = await demo.create('/v2/video_generation', generation('[seconds:500] a long boat'));
      await demo.finish(taskId);
      await until(async () => (await taskOf(taskId)).settlement !== undefined);
      const { hold, settlement, deferredAmountNanos, lines } = await taskOf(taskId);

      expect(settlement).toMatchObject({ amountNanos: '0', basis: 'BASIS_DEFERRED' });
      expect(Number(deferredAmountNanos)).toBe(100 * Number(hold?.amountNanos));
      expect(lines?.map(({ eventKey, book, amountNanos }) => [eventKey, book, amountNanos])).toEqual([
        [`hold:${taskId}`, 'available:demo', `-${hold?.amountNanos}`],
        [`hold:${taskId}`, 'held:demo', hold?.amountNanos],
      ]);
    },
    TIMEOUT_MS,
  );

  test(
    'a statement shows the charges of an account to that account only',
    async () => {
      const { json } = await demo.call('GET', '/v1/usage?group_by=model');
      const table = await demo.call('GET', '/v1/usage?group_by=model', undefined, { accept: 'text/csv' });
      const { balance } = await readAccount(program, 'demo');
      const today = new Date().toISOString().slice(0, 10);

      expect(json).toMatchObject({
        object: 'usage',
        account: 'demo',
        data: [{ model: 'Alpha-H3' }, { model: 'chat', requests: 2, input_tokens: 1000, output_tokens: 200 }],
      });
      expect((100 - Number(json.total.amount)).toFixed(9)).toBe(Number(balance).toFixed(9));
      expect(table.text.split('\r\n')).toHaveLength(4);
      const { total } = await shown<GetUsageResponseJson>('usage', 'show', 'demo', '--from', today, '--to', today);
      expect([formatAmount(total?.amountNanos), Number(total?.requests)]).toEqual([
        json.total.amount,
        json.total.requests,
      ]);
      expect((await httpCaller(program.base, KEYS.other).call('GET', '/v1/usage')).json).toMatchObject({
        account: 'other',
        data: [],
        total: { requests: 0 },
      });
    },
    TIMEOUT_MS,
  );

  test(
    'an internal team reads the statements of its own accounts only',
    async () => {
      const reporting = connectGrpc(program.config.billing.listen, new Secret(callerKey('pipeline')));
      const of = (accountId: string) =>
        reporting
          .client(UsageService)
          .getUsage({ accountId, from: timestampFromMs(0), to: timestampFromMs(HOUR_MS), groupBy: UsageGroup.DAY });

      expect(await of('demo')).toMatchObject({ groups: [], currency: 'USD' });
      await expect(of('other')).rejects.toMatchObject({ kind: 'forbidden', reason: 'account_not_allowed' });
      reporting.close();
    },
    TIMEOUT_MS,
  );

  test(
    'the ledger balances, and no call is open',
    async () => {
      expect(await shown('ledger', 'verify')).toMatchObject({
        ok: true,
        sums: { USD: '0' },
        orphan_holds: [],
        open_calls: 0,
        overdue_calls: 0,
      });
    },
    TIMEOUT_MS,
  );
}
