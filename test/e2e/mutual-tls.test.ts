import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import https from 'node:https';
import type { IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { inTime } from '@reelgate/platform/testing/bounded-waits';
import { newAuthority, writeTls } from '@reelgate/platform/testing/certificates';
import type { Authority, Issued } from '@reelgate/platform/testing/certificates';
import { callGrpc } from '@reelgate/platform/testing/raw-rpc';
import type { Outcome, RawCall } from '@reelgate/platform/testing/raw-rpc';
import { until } from '@reelgate/platform/testing/until';
import { AccountService } from '@reelgate/proto/billing/v1/account_service';
import { TaskService } from '@reelgate/proto/tasks/v1/task_service';
import { startSandbox } from '../../deploy/local/sandbox/sandbox.ts';
import type { Sandbox } from '../../deploy/local/sandbox/sandbox.ts';
import { httpCaller } from '../harness/client.ts';
import { newProgram } from '../harness/program.ts';
import type { Program } from '../harness/program.ts';
import { KEYS, UPSTREAM_KEY, callerKey } from '../harness/test-config.ts';
import type { TestConfig } from '../harness/test-config.ts';
import { describeWith } from '../servers/describe-with.ts';
import { natsServer } from '../servers/nats-server.ts';

const FIXTURES = path.join(import.meta.dirname, '../../services/media/testing/fixtures');
const VIDEO = readFileSync(path.join(FIXTURES, '768p.mp4'));
const IMAGE = readFileSync(path.join(FIXTURES, 'image.png')).toString('base64');
const START_TIMEOUT_MS = 120_000;
const TEST_TIMEOUT_MS = 120_000;
/** The calls that are under way while the certificates are replaced. */
const LANES = 4;

const READER = ['URI:spiffe://lab/reader'];
const CALLER = { name: 'lab', certificate: 'spiffe://lab/reader', accounts: ['demo'], scopes: ['tasks.read'] };
const SERVICES = ['tasks', 'billing', 'media'] as const;
type Scraped = (typeof SERVICES)[number] | 'gateway';
const DAY_MS = 24 * 3_600_000;

describeWith(natsServer, 'four processes that speak mutual TLS', (bus) => {
  let folder: string;
  let authority: Authority;
  let stranger: Authority;
  let reader: Issued;
  /** What a scrape of the HTTP ports trusts. */
  let trusted: string;
  let sandbox: Sandbox;
  let program: Program;

  /** Every service, and the calls between them, with certificates of their own. */
  const withTls = (config: TestConfig): TestConfig => {
    const listener = (name: string) => {
      const { certificate, key, ca } = writeTls(path.join(folder, name), authority.issue(), authority.certificate);
      return { tls: { certificate, key, client_ca: ca } };
    };
    const calls = writeTls(path.join(folder, 'calls'), authority.issue({ name: 'reelgate' }), authority.certificate);
    const services = { ...config.gateway.services, tls: calls };
    const accounts = config.accounts.map((account) => ({ ...account, credit: '10000.00' }));
    return {
      ...config,
      accounts,
      gateway: { ...config.gateway, services },
      tasks: { ...config.tasks, ...listener('tasks') },
      billing: { ...config.billing, ...listener('billing') },
      media: { ...config.media, ...listener('media') },
      internal_callers: [...config.internal_callers, CALLER as never],
    };
  };

  beforeAll(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'reelgate-mutual-'));
    authority = newAuthority();
    stranger = newAuthority('another authority');
    trusted = authority.certificate;
    reader = authority.issue({ name: 'reader', alternatives: READER });
    sandbox = await startSandbox({ listen: '127.0.0.1:0', key: UPSTREAM_KEY, render: async () => VIDEO });
    program = await newProgram('four processes', { upstream: new URL(sandbox.url).host, bus: bus() }, withTls);
    await program.start();
  }, START_TIMEOUT_MS);

  afterAll(async () => {
    await program?.end();
    await sandbox?.stop();
    authority.end();
    stranger.end();
    rmSync(folder, { recursive: true });
  }, START_TIMEOUT_MS);

  const listTasks = (call: Partial<RawCall>, accountId = 'demo'): Promise<Outcome> =>
    callGrpc(program.config.tasks.listen, {
      method: TaskService.method.listTasks,
      request: { accountId, limit: 1 },
      ...call,
    });
  const trusting = (shows?: Issued): Pick<RawCall, 'tls'> => ({
    tls: { ca: authority.certificate, ...(shows === undefined ? {} : { shows }) },
  });

  test(
    'a task with a picture is made, and its video delivered, over nothing but TLS',
    async () => {
      const demo = httpCaller(program.base, KEYS.demo);
      const taskId = await demo.create('/v1/videos', {
        model: 'Alpha-H3',
        prompt: 'a red boat',
        seconds: '5',
        size: '1280x720',
        input_reference: { image_url: `data:image/png;base64,${IMAGE}` },
      });
      await demo.finish(taskId);
      const content = await fetch(`${program.base}/v1/videos/${taskId}/content`, {
        headers: { authorization: `Bearer ${KEYS.demo}` },
      });

      expect(Buffer.from(await content.arrayBuffer()).equals(VIDEO)).toBe(true);
      expect(program.output()).not.toContain('plaintext');
    },
    TEST_TIMEOUT_MS,
  );

  test('the command line calls them too', async () => {
    expect(await program.command('account', 'show', 'demo')).toMatchObject({
      code: 0,
      json: { id: 'demo' },
    });
  });

  describe('a team whose certificate is configured', () => {
    test('calls without a key, with its scopes and for its accounts', async () => {
      expect(await listTasks(trusting(reader))).toMatchObject({ code: 'ok' });
      expect(await listTasks(trusting(reader), 'other')).toMatchObject({
        code: 'permission_denied',
        reason: 'account_not_allowed',
      });
      const account = { method: AccountService.method.getAccount, request: { id: 'demo' }, ...trusting(reader) };
      expect(await callGrpc(program.config.billing.listen, account)).toMatchObject({
        code: 'permission_denied',
        reason: 'scope_missing',
        message: expect.stringContaining('the caller lab has tasks.read'),
      });
    });

    test('calls with a key as another caller, if it sends one', async () => {
      expect(await listTasks({ ...trusting(reader), key: callerKey('account.read') })).toMatchObject({
        message: expect.stringContaining('the caller only account.read'),
      });
    });

    test('is refused by name when the certificate is another one', async () => {
      const unknown = authority.issue({ name: 'unknown.lab', alternatives: [] });

      expect(await listTasks(trusting(unknown))).toMatchObject({
        code: 'unauthenticated',
        reason: 'unknown_caller_certificate',
        message: expect.stringContaining('(unknown.lab)'),
      });
    });
  });

  test.each<[string, () => Pick<RawCall, 'tls'>]>([
    ['plaintext', () => ({})],
    ['without a certificate', () => trusting()],
    ['with an expired certificate', () => trusting(authority.issue({ alternatives: READER, days: -1 }))],
    ['with the certificate of another authority', () => trusting(stranger.issue({ alternatives: READER }))],
  ])('a client %s cannot call, whatever its key', async (_what, tls) => {
    expect(await listTasks({ ...tls(), key: callerKey('tasks.read') })).toMatchObject({ code: 'unavailable' });
  });

  test('the HTTP port answers a probe that shows a certificate, and no other', async () => {
    const ready = await get(program.config.tasks.http, '/readyz', reader);

    expect([ready.statusCode, await textOf(ready)]).toEqual([200, 'ready\n']);
    await expect(get(program.config.tasks.http, '/readyz')).rejects.toThrow();
  });

  test(
    'all certificates and their authority are replaced without a lost call',
    async () => {
      const demo = httpCaller(program.base, KEYS.demo);
      const statuses: number[] = [];
      const replacing = new AbortController();
      const lanes = Array.from({ length: LANES }, async () => {
        while (!replacing.signal.aborted) {
          const listed = await demo.call('GET', '/v1/videos?limit=1');
          const made = await demo.call('POST', '/v2/video_generation', {
            model: 'Alpha-H3',
            content: [{ type: 'text', text: 'a red boat' }],
            duration: 5,
            resolution: '768P',
            ratio: '16:9',
          });
          statuses.push(listed.status, made.status);
          // However fast the machine is, the creates stay below the limits of the token and its credit.
          if (made.status === 200) await demo.finish((made.json as { task_id: string }).task_id);
        }
      });
      const next = newAuthority('the next authority');
      try {
        const both = authority.certificate + next.certificate;
        trusted = both;
        // First each side trusts both authorities, then each shows a certificate of the next one.
        await replaceAll(authority, both, 40);
        await replaceAll(next, both, 50);
      } finally {
        replacing.abort();
        await Promise.all(lanes);
        next.end();
      }

      expect(statuses.length).toBeGreaterThan(LANES);
      expect(statuses.filter((status) => status !== 200)).toEqual([]);
    },
    TEST_TIMEOUT_MS,
  );

  /** Writes new certificates for every service and for the calls, and waits until each process uses them. */
  const replaceAll = async (issuer: Authority, ca: string, days: number): Promise<void> => {
    for (const name of [...SERVICES, 'calls']) writeTls(path.join(folder, name), issuer.issue({ days }), ca);
    const inDays = async (process: Scraped, name: string): Promise<number> =>
      Math.round((await expiryOf(process, name)) / DAY_MS);
    for (const name of SERVICES) await until(async () => (await inDays(name, name)) === days);
    for (const process of ['tasks', 'gateway'] as const)
      await until(async () => (await inDays(process, 'calls')) === days);
  };

  /** The milliseconds until a certificate of a process expires. */
  const expiryOf = async (process: Scraped, name: string): Promise<number> => {
    const text =
      process === 'gateway'
        ? await (await fetch(`http://${program.config.gateway.admin}/metrics`)).text()
        : await textOf(await get(program.config[process].http, '/metrics', reader));
    const [, seconds] = new RegExp(`expiry_seconds\\{certificate="${name}"\\} (\\d+)`).exec(text) ?? [];
    return Number(seconds) * 1000 - Date.now();
  };

  const get = async (address: string, target: string, shows?: Issued): Promise<IncomingMessage> => {
    const [host, port] = address.split(':') as [string, string];
    const pair = shows === undefined ? {} : { cert: shows.certificate, key: shows.key };
    const request = https.get({ host, port, path: target, ca: trusted, agent: false, ...pair });
    const [answer] = (await inTime(once(request, 'response'))) as [IncomingMessage];
    return answer;
  };
});

async function textOf(answer: IncomingMessage): Promise<string> {
  return Buffer.concat((await answer.toArray()) as Buffer[]).toString();
}
