import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { OPERATOR_KEYS, startGatewayUnderTest } from './gateway-under-test.ts';
import type { GatewayUnderTest, TestSettings } from './gateway-under-test.ts';
import { call } from './http-call.ts';
import type { Answer } from './http-call.ts';

/** The operator console behind a port of its own. */
export interface OperatorUnderTest {
  readonly gateway: GatewayUnderTest;
  readonly url: string;
  /** Signs an operator in, and returns the headers of the session. */
  headersOf(role: keyof typeof OPERATOR_KEYS): Promise<Readonly<Record<string, string>>>;
  /** Sends a request of an operator who is signed in. */
  as(role: keyof typeof OPERATOR_KEYS, method: string, path: string, body?: unknown): Promise<Answer>;
  stop(): Promise<void>;
}

export async function startOperatorUnderTest(settings: TestSettings = {}): Promise<OperatorUnderTest> {
  const gateway = await startGatewayUnderTest(settings);
  const server = createServer((request, response) => {
    const isTaken = gateway.gateway.routes.some((route) => route(request, response));
    if (!isTaken) response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const own = { origin: base, 'x-reelgate-console': '1' };
  const headersOf: OperatorUnderTest['headersOf'] = async (role) => {
    const session = await call(base, 'POST', '/console/api/session', {
      token: null,
      headers: own,
      body: { key: OPERATOR_KEYS[role] },
    });
    const [cookie = ''] = session.headers['set-cookie'] ?? [];
    return { ...own, cookie: cookie.split(';')[0] ?? '' };
  };
  return {
    gateway,
    url: base,
    headersOf,
    as: async (role, method, path, body) =>
      call(base, method, `/console/api${path}`, { token: null, headers: await headersOf(role), body }),
    stop: async () => {
      await new Promise((resolve) => server.close(resolve));
      await gateway.stop();
    },
  };
}
