import { gunzipSync, brotliDecompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { PAGES, findPage } from '../../../console/routes.ts';
import { startGatewayUnderTest } from '../../../testing/gateway-under-test.ts';
import type { GatewayUnderTest } from '../../../testing/gateway-under-test.ts';
import { prepareAssets } from './prepare-assets.ts';
import type { Assets } from './prepare-assets.ts';
import { shellOf } from './shell.ts';

const FIRST_LOAD_BYTES_MAX = 60 * 1024;

let under: GatewayUnderTest;
let assets: Assets;
beforeAll(async () => {
  under = await startGatewayUnderTest();
  assets = prepareAssets();
});
afterAll(() => under.stop());

const gzipped = (file: string): number => assets.files.get(file)?.gzip.length ?? Number.NaN;

test('every page of the table is a file that is served', () => {
  const missing = Object.values(PAGES)
    .flat()
    .filter(({ module }) => !assets.files.has(module));

  expect(missing).toEqual([]);
});

test('no test, no type and no server code is served', () => {
  const texts = [...assets.files].filter(([path]) => path.endsWith('.ts'));

  expect([...assets.files.keys()].filter((path) => /\.test\.|^api\/|tsconfig/.test(path))).toEqual([]);
  expect(texts.filter(([, { plain }]) => /from 'node:|@reelgate\//.test(Buffer.from(plain).toString()))).toEqual([]);
});

test.each(
  (['client', 'operator'] as const).flatMap((door) =>
    PAGES[door].map(({ path, module }) => [door, path, module] as const),
  ),
)('the first load of the %s page "%s" is at most 60 KB', (door, path) => {
  const { html } = shellOf(assets, door, `/console/${path}`);
  const named = [...html.matchAll(/(?:href|src)="\/console\/a\/[0-9a-f]+\/([^"]+)"/g)].map(([, file = '']) => file);
  const chart = assets.files.get(findPage(door, `/console/${path}`).route.module)?.plain;
  const lazy = Buffer.from(chart ?? []).includes("'uplot'") ? ['packages/uplot.js', 'packages/uplot.css'] : [];
  const bytes = [...new Set([...named, ...lazy])].reduce(
    (sum, file) => sum + gzipped(file),
    Buffer.byteLength(html) / 3,
  );

  expect(bytes).toBeLessThan(FIRST_LOAD_BYTES_MAX);
});

describe('the shell', () => {
  test('allows our own modules, the one import map and nothing else', async () => {
    const answer = await fetch(`${under.url}/console/tasks/task_1`);
    const policy = answer.headers.get('content-security-policy') ?? '';

    expect(answer.status).toBe(200);
    expect(policy).not.toContain('unsafe');
    expect(policy.split('; ').map((part) => part.replace(/'sha256-[^']+'/, "'sha256-…'"))).toEqual([
      "default-src 'none'",
      "script-src 'self' 'sha256-…'",
      "style-src 'self'",
      "img-src 'self' data:",
      "media-src 'self'",
      "connect-src 'self'",
      "base-uri 'none'",
      "form-action 'self'",
      "frame-ancestors 'none'",
      "require-trusted-types-for 'script'",
    ]);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
      'cache-control': 'no-store',
    });
  });

  test('names files that are kept for good, and every file that it names is there', async () => {
    const html = await (await fetch(`${under.url}/console`)).text();
    const paths = [...new Set([...html.matchAll(/"(\/console\/a\/[^"]+)"/g)].map(([, path = '']) => path))];
    const answers = await Promise.all(paths.map((path) => fetch(under.url + path)));

    expect(paths.length).toBeGreaterThan(5);
    expect(answers.map(({ status, headers }) => [status, headers.get('cache-control')])).toEqual(
      paths.map(() => [200, 'public, max-age=31536000, immutable']),
    );
  });
});

describe('a file', () => {
  const at = (file: string): string => `${under.url}/console/a/${assets.hash}/${file}`;

  test.each([
    ['gzip', (bytes: Buffer) => gunzipSync(bytes)],
    ['br', (bytes: Buffer) => brotliDecompressSync(bytes)],
    ['identity', (bytes: Buffer) => bytes],
  ] as const)('is the same in the encoding %s', async (encoding, decode) => {
    const { request } = await import('node:http');
    const bytes = await new Promise<Buffer>((resolve, reject) => {
      request(at('main.ts'), { headers: { 'accept-encoding': encoding } }, (response) => {
        const parts: Buffer[] = [];
        response
          .on('data', (part: Buffer) => parts.push(part))
          .on('end', () => {
            resolve(Buffer.concat(parts));
          });
      })
        .on('error', reject)
        .end();
    });

    expect(decode(bytes).toString()).toBe(Buffer.from(assets.files.get('main.ts')?.plain ?? []).toString());
  });

  test.each([
    ['of another release', '/console/a/0000000000000000/main.ts'],
    ['outside the console', '/console/a/HASH/..%2f..%2fpackage.json'],
    ['that does not exist', '/console/a/HASH/nothing.ts'],
    ['of the API', '/console/api/nothing'],
  ])('%s is not found', async (_what, path) => {
    expect((await fetch(under.url + path.replace('HASH', assets.hash))).status).toBe(404);
  });
});
