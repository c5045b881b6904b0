import { gunzipSync, brotliDecompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import * as attentionOfOperators from '../../../console/pages/operator/attention-words.ts';
import * as booksOfOperators from '../../../console/pages/operator/books-words.ts';
import * as channelOfOperators from '../../../console/pages/operator/channel-words.ts';
import * as faultOfOperators from '../../../console/pages/operator/fault-words.ts';
import * as handOverOfOperators from '../../../console/pages/operator/hand-over-words.ts';
import * as operatorOfOperators from '../../../console/pages/operator/operator-words.ts';
import * as queueOfOperators from '../../../console/pages/operator/queue-words.ts';
import * as recordOfOperators from '../../../console/pages/operator/record-words.ts';
import * as searchOfOperators from '../../../console/pages/operator/search-words.ts';
import * as workOfOperators from '../../../console/pages/operator/work-words.ts';
import * as clientWords from '../../../console/pages/client/client-words.ts';
import * as taskWords from '../../../console/pages/client/task-words.ts';
import * as tokensWords from '../../../console/pages/client/tokens-words.ts';
import * as usageWords from '../../../console/pages/client/usage-words.ts';
import * as deliveryWords from '../../../console/parts/delivery-words.ts';
import * as timelineWords from '../../../console/parts/timeline-words.ts';
import * as queueWords from '../../../console/parts/token-queue-words.ts';
import * as sharedWords from '../../../console/words.ts';
import { startGatewayUnderTest } from '../../../testing/gateway-under-test.ts';
import type { GatewayUnderTest } from '../../../testing/gateway-under-test.ts';
import { DOOR_FILES, assetPath } from './select-files.ts';
import { prepareAssets } from './prepare-assets.ts';
import type { DoorAssets } from './prepare-assets.ts';
import { renderShell } from './shell.ts';

const OPERATOR_WORDS = [
  attentionOfOperators,
  booksOfOperators,
  channelOfOperators,
  faultOfOperators,
  handOverOfOperators,
  operatorOfOperators,
  queueOfOperators,
  recordOfOperators,
  searchOfOperators,
  workOfOperators,
];
const CLIENT_WORDS = [
  sharedWords,
  clientWords,
  taskWords,
  tokensWords,
  usageWords,
  deliveryWords,
  timelineWords,
  queueWords,
];
const FIRST_LOAD_BYTES_MAX = 60 * 1024;

let under: GatewayUnderTest;
let assets: DoorAssets;
beforeAll(async () => {
  under = await startGatewayUnderTest();
  assets = await prepareAssets();
});
afterAll(() => under.stop());

const DOORS = ['client', 'operator'] as const;
type DoorName = (typeof DOORS)[number];
const gzipped = (door: DoorName, file: string): number => assets[door].files.get(file)?.gzip.length ?? Number.NaN;
const textOf = (door: DoorName, file: string): string =>
  Buffer.from(assets[door].files.get(file)?.plain ?? []).toString();
const pages = DOORS.flatMap((door) => DOOR_FILES[door].pages.map(({ path, module }) => [door, path, module] as const));

test('every page of the tables is a file that its door serves', () => {
  expect(pages.filter(([door, , module]) => !assets[door].files.has(assetPath(module)))).toEqual([]);
});

test.each(DOORS)('no test, no type and no server code is served at the door of the %s', (door) => {
  const texts = [...assets[door].files.keys()].filter((path) => /\.tsx?$/.test(path));

  expect([...assets[door].files.keys()].filter((path) => /\.test\.|^api\/|tsconfig/.test(path))).toEqual([]);
  expect(texts.filter((path) => /from ?['"]node:|@reelgate\//.test(textOf(door, path)))).toEqual([]);
});

test('a page is served without its types, its markup and its comments', () => {
  const text = textOf('client', 'main.tsx');

  expect(text).toContain('jsx(');
  expect(text).not.toMatch(/\/\*|\/\/ |interface |: VNode|<Frame/);
});

test.each(DOORS)('every file that a file of the door of the %s names by its path is served there', (door) => {
  const named = [...assets[door].files.keys()].flatMap((path) =>
    [...textOf(door, path).matchAll(/['"](\.{1,2}\/[^'"\s]+\.(?:tsx?|css|svg))['"]/g)].map(([, specifier = '']) => [
      path,
      new URL(specifier, `file:///${path}`).pathname.slice(1),
    ]),
  );

  expect(named.length).toBeGreaterThan(100);
  expect(named.filter(([, file = '']) => !assets[door].files.has(file))).toEqual([]);
});

test.each(pages)('the first load of the %s page "%s" is at most 60 KB', (door, path) => {
  const { html } = renderShell(assets[door], door, `/console/${path}`);
  const named = [...html.matchAll(/(?:href|src)="[./]*\/console\/a\/[0-9a-f]+\/([^"]+)"/g)].map(
    ([, file = '']) => file,
  );
  const bytes = [...new Set(named)].reduce((sum, file) => sum + gzipped(door, file), Buffer.byteLength(html) / 3);

  expect(named.length).toBeGreaterThan(20);
  expect(bytes).toBeLessThan(FIRST_LOAD_BYTES_MAX);
});

/** The wait of a token for channels, a word that clients read of their own tokens too. */
const TOKEN_WAIT = /wait: ?["']channels["']|channels: ?["']wait for a free place["']/g;

describe('the public door', () => {
  const readName = (file: string): string => file.split('/').at(-1) ?? '';
  const namesOperators = (file: string): boolean => /operator/.test(file);
  const hidden = (): string[] => [...assets.operator.files.keys()].filter((file) => !assets.client.files.has(file));
  const get = async (path: string): Promise<readonly [number, string]> => {
    const answer = await fetch(under.url + path);
    return [answer.status, (await answer.text()).replaceAll(path, 'PATH')];
  };
  /** Every text of some words that is at least two words long, in the parts around what is filled in. */
  const listPhrases = (value: unknown): string[] => {
    if (typeof value === 'string') return [value];
    if (typeof value === 'function') return String(value).match(/(?<=[`'}])[^`'${}]+(?=[`'$])/g) ?? [];
    return typeof value === 'object' && value !== null ? Object.values(value).flatMap(listPhrases) : [];
  };
  const long = (texts: readonly string[]): string[] =>
    texts.map((text) => text.trim()).filter((text) => /^[A-Z].*\w \w/.test(text));

  test('serves no file of operators, under its own hash or under theirs, and answers as for any unknown file', async () => {
    const unknown = await get(`/console/a/${assets.client.hash}/pages/client/nothing.ts`);
    const files = hidden();
    const answers = await Promise.all(
      DOORS.flatMap((door) => files.map((file) => get(`/console/a/${assets[door].hash}/${file}`))),
    );

    expect(files.filter(namesOperators).length).toBeGreaterThan(50);
    expect([...assets.client.files.keys()].filter(namesOperators)).toEqual([]);
    expect(unknown[0]).toBe(404);
    expect(answers.filter((answer) => answer.join() !== unknown.join())).toEqual([]);
  });

  test('names in no file a page, an address, a role or a text of operators', () => {
    const known = JSON.stringify(listPhrases(CLIENT_WORDS)) + DOOR_FILES.client.pages.map(({ path }) => path).join(' ');
    const isKnown = (word: string): boolean => new RegExp(`\\b${word}`, 'i').test(known);
    const segments = DOOR_FILES.operator.pages.flatMap(({ path }) => path.split('/'));
    const words = [
      'operator',
      'treasurer',
      'viewer',
      ...segments.filter((one) => /^[a-z]{4}/.test(one) && !isKnown(one)),
    ];
    const phrases = long(listPhrases(OPERATOR_WORDS)).filter((phrase) => !known.includes(phrase));
    const addresses = segments.filter((one) => one !== '' && !isKnown(one)).map((one) => `/console/${one}`);
    const own = new Set([...assets.client.files.keys()].map(readName));
    const modules = hidden()
      .map(readName)
      .filter((name) => !own.has(name));
    const shells = DOOR_FILES.client.pages.map(
      ({ path }) => renderShell(assets.client, 'client', `/console/${path}`).html,
    );
    const texts = new Map([
      ...[...assets.client.files.keys()]
        .filter((file) => !file.startsWith('packages/'))
        .map((file) => [file, textOf('client', file)] as const),
      ...shells.map((html, at) => [`shell ${at}`, html] as const),
    ]);
    const shown = (text: string): string[] => [
      ...words.filter((word) => new RegExp(`(?<![a-z])${word}`, 'i').test(text.replaceAll(TOKEN_WAIT, ''))),
      ...[...phrases, ...addresses, ...modules.map((name) => `/${name}`)].filter((phrase) => text.includes(phrase)),
    ];

    expect(words).toEqual(expect.arrayContaining(['attention', 'channels', 'accounts', 'jobs', 'configuration']));
    expect(phrases.length).toBeGreaterThan(150);
    expect(
      [...texts].map(([file, text]) => [file, shown(text)]).filter(([, found]) => (found?.length ?? 0) > 0),
    ).toEqual([]);
  });

  test.each(['/', '/docs', '/docs/start.js', '/openapi.json'])(
    'says in %s nothing of operators or of what they see',
    async (path) => {
      const [status, text] = await get(path);

      expect(status).toBe(200);
      expect(text.match(/.{0,40}(?:operator|treasurer|\battention\b|gateway\.admin).{0,40}/gi) ?? []).toEqual([]);
    },
  );

  test('tells nothing of the other door by its hash', () => {
    expect(assets.client.hash).not.toBe(assets.operator.hash);
  });
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
    const paths = [...new Set([...html.matchAll(/"\.(\/console\/a\/[^"]+)"/g)].map(([, path = '']) => path))];
    const answers = await Promise.all(paths.map((path) => fetch(under.url + path)));

    expect(paths.length).toBeGreaterThan(5);
    expect(answers.map(({ status, headers }) => [status, headers.get('cache-control')])).toEqual(
      paths.map(() => [200, 'public, max-age=31536000, immutable']),
    );
  });
});

describe('a file', () => {
  const at = (file: string): string => `${under.url}/console/a/${assets.client.hash}/${file}`;

  test.each([
    ['gzip', (bytes: Buffer) => gunzipSync(bytes)],
    ['br', (bytes: Buffer) => brotliDecompressSync(bytes)],
    ['identity', (bytes: Buffer) => bytes],
  ] as const)('is the same in the encoding %s', async (encoding, decode) => {
    const { request } = await import('node:http');
    const bytes = await new Promise<Buffer>((resolve, reject) => {
      request(at('main.tsx'), { headers: { 'accept-encoding': encoding } }, (response) => {
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

    expect(decode(bytes).toString()).toBe(textOf('client', 'main.tsx'));
  });

  test.each([
    ['of another release', '/console/a/0000000000000000/main.tsx'],
    ['outside the console', '/console/a/HASH/..%2f..%2fpackage.json'],
    ['that does not exist', '/console/a/HASH/nothing.ts'],
    ['of the API', '/console/api/nothing'],
  ])('%s is not found', async (_what, path) => {
    expect((await fetch(under.url + path.replace('HASH', assets.client.hash))).status).toBe(404);
  });
});
