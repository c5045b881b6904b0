import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { until } from '@reelgate/platform/testing/until';
import { aRelayChannel } from '../../../testing/a-relay-channel.ts';
import { TOKEN } from '../../../testing/fake-services.ts';
import { holdConnection, requestHead } from '../../../testing/held-connection.ts';
import { call } from '../../../testing/http-call.ts';
import { startOperatorUnderTest } from '../../../testing/operator-under-test.ts';
import type { OperatorUnderTest } from '../../../testing/operator-under-test.ts';

const MEMBERS = 60_000;
const members = (count: number): string => Array.from({ length: count }, (_, index) => `"k${index}":1`).join(',');
const MANY = members(MEMBERS);
/** Bodies that a door could take in part, with too much in one place each. */
const BODIES: readonly (readonly [string, string, RegExp])[] = [
  ['members', `{"model":"some-model",${MANY}}`, /must have at most \d+ members in one object/],
  [
    'members within',
    `{"model":"some-model","params":{"_meta":{${MANY}}}}`,
    /must have at most \d+ members in one object/,
  ],
  [
    'objects',
    `{"model":"some-model","content":[${Array.from({ length: MEMBERS }, (_, index) => `{"k${index}":1}`).join(',')}]}`,
    /has too many values/,
  ],
  [
    'levels',
    `{"model":"some-model","content":${'['.repeat(65)}${']'.repeat(65)}}`,
    /must not nest deeper than 64 levels/,
  ],
];

let operators: OperatorUnderTest;
let url: string;
let paths: readonly string[];
beforeAll(async () => {
  operators = await startOperatorUnderTest({ batches: true, channels: [aRelayChannel()] });
  url = operators.gateway.url;
  const document = (await call(url, 'GET', '/openapi.json')).json;
  paths = listJsonPaths(document.paths);
});
afterAll(() => operators.stop());

/** The paths that take JSON by POST, with a value for each of their parameters. */
function listJsonPaths(described: Record<string, { post?: { requestBody?: { content: object } } }>): readonly string[] {
  return Object.entries(described)
    .filter(([, { post }]) => post?.requestBody !== undefined && 'application/json' in post.requestBody.content)
    .map(([path]) =>
      path.replace('{path}', 'v1/chat/completions').replaceAll(/\{\w+\}/g, 'task_00000000000000000000000000'),
    );
}

test.each(BODIES)('a body with too many %s is refused at every door, in its envelope', async (_, body, message) => {
  const answers = await Promise.all(
    paths.map(async (path) => {
      const { status, json } = await call(url, 'POST', path, { body });
      const error = json?.error;
      return { path, status, message: error?.message, code: error?.code ?? error?.type ?? error?.status };
    }),
  );

  expect(paths.length).toBeGreaterThan(25);
  expect(answers).toEqual(
    paths.map((path) => ({ path, status: 400, message: expect.stringMatching(message), code: expect.anything() })),
  );
});

test.each([
  ['an order', '/v1/videos'],
  ['a call to a model', '/v1/chat/completions'],
])('%s with too many members is refused before the rest of it arrives', async (_, path) => {
  const head = requestHead({ path, token: TOKEN, bytes: 12_000_000 });

  const connection = await holdConnection(url, [head, `{"model":"some-model",${MANY}`]);

  await until(() => connection.seen().includes('members in one object'));
  expect(connection.seen()).toMatch(/^HTTP\/1\.1 400 /);
  connection.close();
});

test('the sign-ins of both consoles refuse it too', async () => {
  const body = `{"token":"some-token",${members(5000)}}`;
  const answers = await Promise.all(
    [url, operators.url].map((origin) =>
      call(origin, 'POST', '/console/api/session', {
        body,
        token: null,
        headers: { origin, 'x-reelgate-console': '1' },
      }),
    ),
  );

  for (const { status, json } of answers)
    expect([status, json]).toEqual([400, { error: expect.objectContaining({ code: 'invalid_json' }) }]);
});

test('the JSON in a field of a form is bounded as a body is', async () => {
  const content = `[{"type":"text","text":"a boat",${members(1001)}}]`;
  const form = ['model', 'Alpha-H3', 'content', content]
    .map((text, index) =>
      index % 2 === 0 ? `--x\r\ncontent-disposition: form-data; name="${text}"\r\n\r\n` : `${text}\r\n`,
    )
    .join('');
  const { status, json } = await call(url, 'POST', '/v1/videos', {
    body: `${form}--x--\r\n`,
    headers: { 'content-type': 'multipart/form-data; boundary=x' },
  });

  expect([status, json.error]).toEqual([
    400,
    expect.objectContaining({
      code: 'invalid_json',
      param: 'content',
      message: expect.stringMatching(/^content must have at most 1000 members in one object/),
    }),
  ]);
});
