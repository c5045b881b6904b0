import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Secret } from '@reelgate/platform/secret';
import { until } from '@reelgate/platform/testing/until';
import { SERVICE_NAMES } from '../../deploy/program/config/program-config.ts';
import type { ServiceName } from '../../deploy/program/config/program-config.ts';
import { deriveServiceKey } from '../../deploy/program/keys/service-key.ts';
import { toAcceptedKeys } from '../../deploy/program/keys/signing-key.ts';
import { httpCaller } from '../harness/client.ts';
import { newProgram } from '../harness/program.ts';
import type { Program } from '../harness/program.ts';
import { startScriptedUpstream } from '../harness/scripted-upstream.ts';
import type { ScriptedUpstream } from '../harness/scripted-upstream.ts';
import { KEYS } from '../harness/test-config.ts';
import type { TestConfig } from '../harness/test-config.ts';
import { describeWith } from '../servers/describe-with.ts';
import { natsServer } from '../servers/nats-server.ts';

const TIMEOUT_MS = 120_000;
/** The other processes reconnect to the one that was restarted. */
const READY_MS = 60_000;
const [OLD, NEW] = ['the-old-signing-key', 'the-new-signing-key'];
const ORDER = { model: 'Alpha-H3', prompt: 'a red boat', seconds: '5' };

describeWith(natsServer, 'four processes with the keys of their own', (bus) => {
  let upstream: ScriptedUpstream;
  let program: Program;
  let held: Readonly<Record<ServiceName, string>>;
  const derive = (now: string, other: string): void => {
    const keys = toAcceptedKeys(new Secret(now), [{ key: new Secret(other), accept: 'all' }]);
    held = Object.fromEntries(
      SERVICE_NAMES.map((name) => [name, deriveServiceKey(name, keys).reveal()]),
    ) as typeof held;
  };
  const order = async (): Promise<string> => {
    const caller = httpCaller(program.base, KEYS.demo);
    const { json } = await caller.finish(await caller.create('/v1/videos', ORDER));
    expect(json.status).toBe('completed');
    return json.video_url as string;
  };

  beforeAll(async () => {
    upstream = await startScriptedUpstream();
    derive(OLD, NEW);
    program = await newProgram(
      'four processes',
      { upstream: upstream.host, bus: bus() },
      ({ signing_key: _, ...config }) =>
        ({ ...config, service_key: `$\{REELGATE_SERVICE_KEY}`, require_service_key: true }) as unknown as TestConfig,
      { environmentOf: (service = 'gateway') => ({ REELGATE_SERVICE_KEY: held[service] }) },
    );
    await program.start();
  }, TIMEOUT_MS);
  afterAll(async () => {
    await program?.end();
    await upstream?.stop();
  }, TIMEOUT_MS);

  test(
    'make a video, and no process has the signing key; the command line works with that of the gateway',
    async () => {
      expect((await fetch(await order())).status).toBe(200);
      expect((await program.command('ledger', 'verify')).json).toMatchObject({ ok: true });
    },
    TIMEOUT_MS,
  );

  test(
    'move to a new signing key one after the other, and what was signed before opens',
    async () => {
      const link = await order();
      derive(NEW, OLD);
      for (const service of ['billing', 'media', 'tasks', 'gateway'] as const) {
        await program.killOne(service, 0, 'SIGTERM');
        await program.ready();
        const caller = httpCaller(program.base, KEYS.demo);
        await until(async () => (await caller.call('POST', '/v1/videos', ORDER)).status === 200, READY_MS);
        expect((await fetch(link)).status).toBe(200);
        expect((await fetch(await order())).status).toBe(200);
      }
    },
    TIMEOUT_MS,
  );
});

describeWith(natsServer, 'the signing key of four processes', (bus) => {
  let upstream: ScriptedUpstream;
  let program: Program;
  let link: string;
  const get = async (url: string): Promise<number> => (await fetch(url)).status;

  /** Writes the keys into the file. A process has them after its next start. */
  function configure(keys: object): void {
    const file = path.join(path.dirname(program.config.data_dir), 'reelgate.yaml');
    writeFileSync(file, JSON.stringify({ ...program.config, ...keys }));
  }

  beforeAll(async () => {
    upstream = await startScriptedUpstream();
    program = await newProgram('four processes', { upstream: upstream.host, bus: bus() });
    configure({ signing_key: OLD, other_signing_keys: [{ key: NEW }] });
    await program.start();
    const caller = httpCaller(program.base, KEYS.demo);
    const { json } = await caller.finish(await caller.create('/v1/videos', ORDER));
    link = json.video_url as string;
  }, TIMEOUT_MS);
  afterAll(async () => {
    await program?.end();
    await upstream?.stop();
  }, TIMEOUT_MS);

  describe('one process after the other gets the new key', () => {
    test.each(['billing', 'media', 'tasks', 'gateway'] as const)(
      'with %s next, tasks are created and end, and old links work',
      async (service) => {
        configure({ signing_key: NEW, other_signing_keys: [{ key: OLD }] });
        await program.killOne(service, 0, 'SIGTERM');
        const caller = httpCaller(program.base, KEYS.demo);
        await program.ready();
        await until(async () => (await caller.call('POST', '/v1/videos', ORDER)).status === 200, READY_MS);
        const { json } = await caller.finish(await caller.create('/v1/videos', ORDER));

        expect(json.status).toBe('completed');
        expect([await get(link), await get(json.video_url as string)]).toEqual([200, 200]);
      },
      TIMEOUT_MS,
    );
  });

  test(
    'a key that is accepted for tokens alone opens no link, and the tokens work',
    async () => {
      configure({ signing_key: NEW, other_signing_keys: [{ key: OLD, accept: 'tokens' }] });
      await program.stop();
      await program.start();

      expect(await get(link)).toBe(403);
      for (const key of [KEYS.demo, KEYS.other])
        expect((await httpCaller(program.base, key).call('GET', '/v1/models')).status).toBe(200);
    },
    TIMEOUT_MS,
  );
});
