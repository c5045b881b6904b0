import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { answer, startRawOrigin } from '../../../testing/raw-origin.ts';

const CHILD = fileURLToPath(new URL('../../../testing/fetch-child.ts', import.meta.url));
const fixture = (name: string): string =>
  fileURLToPath(new URL(`../../../testing/fixtures/tls/${name}.pem`, import.meta.url));
const says = (text: string): string => answer(['200 OK', `content-length: ${text.length}`], text);
const tlsOf = (name: string) => ({ key: readFileSync(fixture('key')), cert: readFileSync(fixture(name)) });

test('the environment adds no proxy and weakens no certificate check', async () => {
  const proxy = await startRawOrigin();
  const [origin, secure, stranger] = await Promise.all([
    startRawOrigin(),
    startRawOrigin({ tls: tlsOf('good') }),
    startRawOrigin({ tls: tlsOf('of-a-stranger') }),
  ]);
  const servers = [proxy, origin, secure, stranger];
  const by = `http://${proxy.host}`;
  const environment = {
    NODE_USE_ENV_PROXY: '1',
    HTTP_PROXY: by,
    HTTPS_PROXY: by,
    ALL_PROXY: by,
    http_proxy: by,
    https_proxy: by,
    all_proxy: by,
    NO_PROXY: '',
    no_proxy: '',
    NODE_TLS_REJECT_UNAUTHORIZED: '0',
    NODE_EXTRA_CA_CERTS: fixture('authority'),
    NODE_NO_WARNINGS: '1',
  };
  const urls = [
    origin.url(says('unasked')),
    origin.url(says('plain')),
    secure.url(says('secure')),
    stranger.url(says('stranger')),
  ];

  const { stdout } = await promisify(execFile)(process.execPath, [CHILD, ...urls], {
    env: { ...process.env, ...environment },
    timeout: 60_000,
  });
  const asked = proxy.connections();
  await Promise.all(servers.map((server) => server.close()));

  // the first shows that the environment takes effect
  expect(JSON.parse(stdout)).toEqual(['failed', 'plain', 'secure', 'network']);
  expect(asked).toBe(1);
  expect(stranger.received()).toBe(0);
});
