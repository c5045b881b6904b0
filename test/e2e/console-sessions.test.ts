import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { until } from '@reelgate/platform/testing/until';
import { httpCaller } from '../harness/client.ts';
import { newProgram } from '../harness/program.ts';
import type { Program } from '../harness/program.ts';
import { startGatewayReplica } from '../harness/replica.ts';
import { KEYS } from '../harness/test-config.ts';
import { describeWith } from '../servers/describe-with.ts';
import { natsServer } from '../servers/nats-server.ts';

const TIMEOUT_MS = 180_000;
/** Nothing listens there: no test of this file submits work. */
const NO_UPSTREAM = '127.0.0.1:9';
const ADA = { name: 'ada', key: 'operator-key-of-ada-for-the-sessions', role: 'treasurer' };

const send = (base: string, method: string, route: string, cookie = '', body?: object) =>
  httpCaller(base, undefined).call(method, `/console/api${route}`, body, {
    origin: base,
    'x-reelgate-console': '1',
    ...(cookie === '' ? {} : { cookie }),
  });
const statusOf = async (base: string, cookie: string): Promise<number> =>
  (await send(base, 'GET', '/me', cookie)).status;

async function signIn(base: string, credential: object): Promise<string> {
  const { status, headers, text } = await send(base, 'POST', '/session', '', credential);
  if (status !== 200) throw new Error(`nothing is signed in: ${text}`);
  return (headers.get('set-cookie') ?? '').split(';', 1)[0] ?? '';
}

describeWith(natsServer, 'sessions of the consoles at two gateways', (bus) => {
  let program: Program;
  let replica: Awaited<ReturnType<typeof startGatewayReplica>>;
  beforeAll(async () => {
    program = await newProgram('four processes', { upstream: NO_UPSTREAM, bus: bus() }, (config) => ({
      ...config,
      operators: [ADA],
    }));
    await program.start();
    replica = await startGatewayReplica(program);
  }, TIMEOUT_MS);
  afterAll(async () => {
    await replica?.stop();
    await program?.end();
  }, TIMEOUT_MS);

  const doors = (): readonly { readonly bases: readonly [string, string]; readonly credential: object }[] => [
    { bases: [program.base, `http://${replica.listen}`], credential: { token: KEYS.demo } },
    { bases: [`http://${program.config.gateway.admin}`, `http://${replica.admin}`], credential: { key: ADA.key } },
  ];

  test(
    'end everywhere with a sign-out, even if billing is killed right after the answer',
    async () => {
      for (const { bases, credential } of doors()) {
        const cookie = await signIn(bases[0], credential);
        const before = await Promise.all(bases.map((base) => statusOf(base, cookie)));
        const out = await send(bases[0], 'DELETE', '/session', cookie);
        await program.killOne('billing', 0);
        await program.ready();
        await until(async () => (await statusOf(bases[1], cookie)) === 401);
        const next = await signIn(bases[1], credential);

        expect([...before, out.status]).toEqual([200, 200, 200]);
        expect(await Promise.all(bases.map((base) => statusOf(base, cookie)))).toEqual([401, 401]);
        expect(await Promise.all(bases.map((base) => statusOf(base, next)))).toEqual([200, 200]);
      }
    },
    TIMEOUT_MS,
  );

  test(
    'end with the entry of their operator, and do not come back with it',
    async () => {
      const [admin, other] = [`http://${program.config.gateway.admin}`, `http://${replica.admin}`];
      const file = path.join(path.dirname(program.config.data_dir), 'reelgate.yaml');
      const cookie = await signIn(admin, { key: ADA.key });
      const before = await statusOf(other, cookie);
      writeFileSync(file, JSON.stringify({ ...program.config, operators: [{ ...ADA, role: 'viewer' }] }));
      await until(async () => (await statusOf(admin, cookie)) === 401);
      await until(async () => (await statusOf(other, cookie)) === 401);
      writeFileSync(file, JSON.stringify(program.config));
      await until(async () => {
        const again = await signIn(admin, { key: ADA.key });
        return (await send(admin, 'GET', '/me', again)).json.role === 'treasurer';
      });

      expect([before, await statusOf(admin, cookie)]).toEqual([200, 401]);
    },
    TIMEOUT_MS,
  );
});
