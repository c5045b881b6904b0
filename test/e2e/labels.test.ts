import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { until } from '@reelgate/platform/testing/until';
import OpenAI from 'openai';
import { httpCaller } from '../harness/client.ts';
import type { HttpCaller } from '../harness/client.ts';
import { newProgram } from '../harness/program.ts';
import type { Program, Shape } from '../harness/program.ts';
import { createToken } from '../harness/records.ts';
import { startScriptedUpstream } from '../harness/scripted-upstream.ts';
import type { ScriptedUpstream } from '../harness/scripted-upstream.ts';
import { KEYS } from '../harness/test-config.ts';
import { describeWith } from '../servers/describe-with.ts';
import { natsServer } from '../servers/nats-server.ts';

const TIMEOUT_MS = 120_000;
const ORDER = { model: 'Alpha-H3', prompt: 'a boat', seconds: '5' };

describe('one program', () => {
  labelSuite('one program');
});

describeWith(natsServer, 'four processes', (bus) => {
  labelSuite('four processes', bus);
});

/** Labels as clients give them and find them again, through real processes. */
function labelSuite(shape: Shape, bus?: () => string): void {
  let upstream: ScriptedUpstream;
  let program: Program;
  let demo: HttpCaller;
  let other: HttpCaller;

  beforeAll(async () => {
    upstream = await startScriptedUpstream();
    program = await newProgram(shape, { upstream: upstream.host, bus: bus?.() });
    await program.start();
    demo = httpCaller(program.base, KEYS.demo);
    other = httpCaller(program.base, KEYS.other);
  }, TIMEOUT_MS);
  afterAll(async () => {
    await program?.end();
    await upstream?.stop();
  }, TIMEOUT_MS);

  const charges = async (caller: HttpCaller): Promise<Record<string, number>> => {
    const { json } = await caller.call('GET', '/v1/usage?group_by=label');
    return Object.fromEntries(
      (json.data as { label: string; requests: number }[]).map(({ label, requests }) => [label, requests]),
    );
  };

  test(
    'a label is that of the header, or else of the token, and usage sums by it for its own account alone',
    async () => {
      const { key } = await createToken(program, 'demo', '--label', 'ci');
      const sdk = new OpenAI({ baseURL: `${program.base}/v1`, apiKey: key });
      const bySdk = await sdk.videos.create(
        { ...ORDER, model: 'Alpha-H3', seconds: '5' as never },
        { headers: { 'Reelgate-Label': 'spring' } },
      );
      const byToken = await httpCaller(program.base, key).create('/v1/videos', ORDER);
      const unlabelled = await demo.create('/v1/videos', ORDER);
      const foreign = await other.create('/v1/videos', ORDER, { 'Reelgate-Label': 'spring' });
      for (const id of [bySdk.id, byToken, unlabelled]) await demo.finish(id);
      await other.finish(foreign);
      await until(async () => Object.values(await charges(demo)).reduce((sum, one) => sum + one, 0) === 3);
      await until(async () => Object.keys(await charges(other)).length === 1);

      expect(await charges(demo)).toEqual({ '': 1, ci: 1, spring: 1 });
      expect(await charges(other)).toEqual({ spring: 1 });
      const listed = await demo.call('GET', '/v1/videos?label=spring');
      expect(listed.json.data).toMatchObject([{ id: bySdk.id, label: 'spring' }]);
      expect((await other.call('GET', '/v1/videos?label=ci')).json.data).toEqual([]);
      expect((await program.command('ledger', 'verify')).code).toBe(0);
    },
    TIMEOUT_MS,
  );
}
