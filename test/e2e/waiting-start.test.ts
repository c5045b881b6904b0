import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { until } from '@reelgate/platform/testing/until';
import { httpCaller } from '../harness/client.ts';
import { openCuttableLine } from '../harness/cuttable-line.ts';
import type { CuttableLine } from '../harness/cuttable-line.ts';
import { newDatabases } from '../harness/databases.ts';
import { newProgram } from '../harness/program.ts';
import type { Program } from '../harness/program.ts';
import { KEYS } from '../harness/test-config.ts';
import { describeWith } from '../servers/describe-with.ts';
import { natsServer } from '../servers/nats-server.ts';
import { postgresServer } from '../servers/postgres-server.ts';

const TIMEOUT_MS = 120_000;
/** The first answer of a process, on a busy machine. */
const BEGIN_MS = 60_000;
/** A wait for the database would last longer. */
const AT_ONCE_MS = 5000;
/** A slow machine takes longer, by at most this many times the start of the process. */
const STARTS_MAX = 3;
const PASSWORD = 'never-in-a-log';
const VENDOR_CREATE = { model: 'Alpha-H3', content: [{ type: 'text', text: 'a boat' }], duration: 4 };

/** The status of a probe; 0: nothing answers. */
const probe = (url: string): Promise<number> =>
  fetch(url).then(
    ({ status }) => status,
    () => 0,
  );

describeWith(natsServer, 'a start', (nats) => {
  describeWith(postgresServer, 'of services whose dependencies are away', (postgres) => {
    let program: Program;
    let [bus, store] = [] as unknown as [CuttableLine, CuttableLine];

    beforeAll(async () => {
      [bus, store] = await Promise.all([
        openCuttableLine(nats()),
        openCuttableLine((await newDatabases(postgres())).billing),
      ]);
      const database = new URL(store.url);
      database.password = PASSWORD;
      program = await newProgram('four processes', {
        upstream: '127.0.0.1:1',
        bus: bus.url,
        databases: { billing: database.href },
      });
    }, TIMEOUT_MS);
    afterAll(async () => {
      await program?.end();
      await Promise.all([bus?.stop(), store?.stop()]);
    }, TIMEOUT_MS);

    const waits = /the start waits for a dependency/g;

    describe('billing without PostgreSQL', () => {
      const at = (path: string): string => `http://${program.config.billing.http}${path}`;

      test(
        'is alive and not ready, names the dependency, and ends at once at a SIGTERM',
        async () => {
          store.cut();
          const begun = performance.now();
          program.startOne('billing');
          await until(async () => (await probe(at('/healthz'))) === 200, BEGIN_MS);
          const startMs = performance.now() - begun;
          await until(() => waits.test(program.output()));

          expect(await probe(at('/readyz'))).toBe(503);
          expect(program.output()).toContain(`PostgreSQL at ${new URL(store.url).host}/`);
          expect(program.output()).not.toContain(PASSWORD);
          const asked = performance.now();
          expect(await program.signal('billing', 'SIGTERM')).toBe(0);
          expect(performance.now() - asked).toBeLessThan(Math.max(AT_ONCE_MS, STARTS_MAX * startMs));
        },
        TIMEOUT_MS,
      );

      test(
        'becomes ready when it is back',
        async () => {
          program.startOne('billing');
          await until(async () => (await probe(at('/readyz'))) === 503, BEGIN_MS);
          store.mend();

          await until(async () => (await probe(at('/readyz'))) === 200);
        },
        TIMEOUT_MS,
      );
    });

    describe('the gateway', () => {
      const admin = (path: string): string => `http://${program.config.gateway.admin}${path}`;

      test(
        'without NATS is alive and not ready, and refuses requests as temporary, in the dialect of the path',
        async () => {
          bus.cut();
          program.startOne('gateway');
          await until(async () => (await probe(admin('/healthz'))) === 200, BEGIN_MS);
          await until(async () => (await probe(`${program.base}/healthz`)) === 200);

          expect(await Promise.all([probe(admin('/readyz')), probe(`${program.base}/readyz`)])).toEqual([503, 503]);
          const { status, headers, json } = await httpCaller(program.base, KEYS.demo).call(
            'POST',
            '/v2/video_generation',
            VENDOR_CREATE,
          );
          expect([status, headers.get('retry-after')]).toEqual([503, '2']);
          expect(json).toMatchObject({ type: 'error', error: { type: 'server_error', http_code: '503' } });
          await until(() => program.output().includes(`NATS at ${new URL(bus.url).host}`));
          bus.mend();
          await until(async () => (await probe(admin('/readyz'))) === 200);
        },
        TIMEOUT_MS,
      );

      test(
        'is ready while its peers and NATS are away, which its metrics show',
        async () => {
          bus.cut();
          const { status, headers, json } = await httpCaller(program.base, KEYS.demo).call('GET', '/v1/videos');

          expect([status, Number(headers.get('retry-after')) >= 1]).toEqual([503, true]);
          expect(json).toMatchObject({ error: { type: 'server_error', code: 'service_unavailable' } });
          await until(async () => (await (await fetch(admin('/metrics'))).text()).includes('peer_up{peer="bus"} 0'));
          const text = await (await fetch(admin('/metrics'))).text();
          expect(text).toMatch(/reelgate_peer_up\{peer="tasks"\} 0\n/);
          expect(text).toMatch(/reelgate_peer_up\{peer="billing"\} 1\n/);
          expect(await Promise.all([probe(admin('/readyz')), probe(`${program.base}/readyz`)])).toEqual([200, 200]);
        },
        TIMEOUT_MS,
      );
    });
  });
});
