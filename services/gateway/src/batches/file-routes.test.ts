import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Problem } from '@reelgate/platform/problem';
import { until } from '@reelgate/platform/testing/until';
import http from 'node:http';
import { startGatewayUnderTest } from '../../testing/gateway-under-test.ts';
import type { GatewayUnderTest } from '../../testing/gateway-under-test.ts';
import { TOKEN } from '../../testing/fake-services.ts';
import { call } from '../../testing/http-call.ts';
import type { Answer } from '../../testing/http-call.ts';
import { formBody, formPart } from '../../testing/multipart-form.ts';
import type { FormPart } from '../../testing/multipart-form.ts';

const BOUNDARY = 'boundary-of-the-test';
const FORM = { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` };
const PURPOSE: FormPart = { name: 'purpose', content: 'batch' };
const LINES = '{"custom_id":"1"}\n';
const FILE: FormPart = { name: 'file', content: LINES, fileName: 'orders.jsonl', type: 'application/jsonl' };
const ANCHOR: FormPart = { name: 'expires_after[anchor]', content: 'created_at' };
const seconds = (content: string): FormPart => ({ name: 'expires_after[seconds]', content });
const FILE_BYTES_MAX = 64 * 1024;

let under: GatewayUnderTest;
beforeAll(async () => {
  under = await startGatewayUnderTest({ batches: true });
  under.files.bytesMax = FILE_BYTES_MAX;
  under.billing.tokens.set('of-another', { accountId: 'other' });
});
afterAll(() => under.stop());

const upload = (parts: readonly FormPart[]): Promise<Answer> =>
  call(under.url, 'POST', '/v1/files', { body: formBody(BOUNDARY, parts), headers: FORM });
const get = (path: string, token?: string): Promise<Answer> =>
  call(under.url, 'GET', path, token === undefined ? {} : { token });

test.each([
  ['before its purpose', [FILE, PURPOSE]],
  ['after its purpose', [PURPOSE, FILE]],
  ['between its fields', [ANCHOR, FILE, PURPOSE, seconds('3600')]],
])('a file %s is stored, read and deleted', async (_where, parts) => {
  const { status, json } = await upload(parts);

  expect([status, json]).toEqual([
    200,
    {
      id: expect.stringMatching(/^file_/),
      object: 'file',
      bytes: LINES.length,
      created_at: expect.any(Number),
      expires_at: (json.created_at as number) + (parts.length > 2 ? 3600 : 30 * 24 * 3600),
      filename: 'orders.jsonl',
      purpose: 'batch',
      status: 'processed',
    },
  ]);
  expect(under.media.kept.get(json.id)?.bytes.toString()).toBe(LINES);
  expect((await get(`/v1/files/${json.id}`)).json).toEqual(json);
  expect((await get(`/v1/files/${json.id}/content`)).text).toBe(`${json.id} orders.jsonl from here`);
  for (const path of ['', '/content'])
    expect((await get(`/v1/files/${json.id}${path}`, 'of-another')).json.error.code).toBe('file_not_found');
  expect((await call(under.url, 'DELETE', `/v1/files/${json.id}`)).json).toEqual({
    id: json.id,
    object: 'file',
    deleted: true,
  });
  for (const [method, path] of [
    ['GET', ''],
    ['GET', '/content'],
    ['DELETE', ''],
  ] as const) {
    const gone = await call(under.url, method, `/v1/files/${json.id}${path}`);
    expect([gone.status, gone.json.error.code]).toEqual([404, 'file_not_found']);
  }
});

test('a list has pages, an order and a purpose', async () => {
  const ids = [];
  for (let n = 0; n < 3; n += 1) ids.push((await upload([FILE, PURPOSE])).json.id);
  const list = async (query: string) => {
    const { json } = await get(`/v1/files?${query}`);
    return [(json.data as { id: string }[]).map(({ id }) => id), json.first_id, json.last_id, json.has_more];
  };

  expect(await list('')).toEqual([ids.toReversed(), ids[2], ids[0], false]);
  expect(await list('limit=1&order=asc')).toEqual([[ids[0]], ids[0], ids[0], true]);
  expect(await list(`limit=10000&order=asc&after=${ids[0]}`)).toEqual([ids.slice(1), ids[1], ids[2], false]);
  expect(await list('purpose=batch_output')).toEqual([[], null, null, false]);
  for (const [query, param] of [
    ['limit=0', 'limit'],
    ['order=up', 'order'],
    ['purpose=vision', 'purpose'],
    ['after=a%20b', 'after'],
  ] as const) {
    const { status, json } = await get(`/v1/files?${query}`);
    expect([status, json.error.code, json.error.param]).toEqual([400, 'invalid_request', param]);
  }
});

describe('a form is refused, and leaves no file and no reservation', () => {
  test.each<[string, readonly FormPart[], number, string, string | null]>([
    ['without a file', [PURPOSE], 400, 'invalid_request', 'file'],
    ['with an empty file', [PURPOSE, { ...FILE, content: '' }], 400, 'invalid_request', 'file'],
    ['without a purpose', [FILE], 400, 'invalid_request', 'purpose'],
    [
      'with another purpose after its file',
      [FILE, { ...PURPOSE, content: 'vision' }],
      400,
      'invalid_request',
      'purpose',
    ],
    ['with another purpose', [{ ...PURPOSE, content: 'assistants' }, FILE], 400, 'invalid_request', 'purpose'],
    ['with a purpose twice', [PURPOSE, FILE, PURPOSE], 400, 'invalid_request', null],
    ['with two files', [PURPOSE, FILE, FILE], 400, 'invalid_request', null],
    ['with a file in another field', [PURPOSE, { ...FILE, name: 'image' }], 400, 'invalid_request', null],
    ['with an unknown field', [PURPOSE, FILE, { name: 'user', content: 'x' }], 400, 'unknown_field', 'user'],
    ['with a field that is too long', [{ name: 'x', content: 'x'.repeat(2000) }, FILE], 400, 'invalid_request', null],
    [
      'with too short a life',
      [PURPOSE, FILE, ANCHOR, seconds('3599')],
      400,
      'invalid_request',
      'expires_after[seconds]',
    ],
    ['with half an expiry', [PURPOSE, FILE, ANCHOR], 400, 'invalid_request', 'expires_after'],
    [
      'with a file that is too large',
      [PURPOSE, { ...FILE, content: 'x'.repeat(3 * FILE_BYTES_MAX) }],
      413,
      'body_too_large',
      null,
    ],
  ])('%s', async (_how, parts, status, code, param) => {
    const before = under.files.files.size;
    const removals = under.files.removed.length;
    const answer = await upload(parts);

    expect([answer.status, answer.json.error.code, answer.json.error.param]).toEqual([status, code, param]);
    expect(under.files.files.size).toBe(before);
    expect(under.files.removed.length).toBe(removals + 1);
  });

  test('that is no form, before anything is reserved', async () => {
    const removals = under.files.removed.length;
    const json = await call(under.url, 'POST', '/v1/files', { body: { purpose: 'batch' } });

    expect([json.status, json.json.error.code]).toEqual([415, 'unsupported_media_type']);
    expect(under.files.removed.length).toBe(removals);
  });

  test('for an account that is full, before its body is read', async () => {
    under.files.refuse(new Problem({ kind: 'unprocessable', reason: 'file_limit', message: 'delete some first' }));
    const answer = await upload([FILE, PURPOSE]);

    expect([answer.status, answer.json.error.code]).toEqual([422, 'file_limit']);
  });

  test('that breaks off, and its memory is free again', async () => {
    const before = under.files.files.size;
    const removals = under.files.removed.length;
    const { hostname, port } = new URL(under.url);
    const headers = { ...FORM, authorization: `Bearer ${TOKEN}`, 'content-length': '50000' };
    const request = http.request({ hostname, port, method: 'POST', path: '/v1/files', headers });
    request.on('error', () => undefined);
    request.write(formPart(BOUNDARY, PURPOSE));
    request.write(formPart(BOUNDARY, { ...FILE, content: 'x'.repeat(20_000) }).subarray(0, 15_000));
    await until(async () => (await bodyBytes()) > 0);
    request.destroy();

    await until(() => under.files.removed.length === removals + 1);
    expect(under.files.files.size).toBe(before);
    await until(async () => (await bodyBytes()) === 0);
  });
});

async function bodyBytes(): Promise<number> {
  const { text } = await call(under.url, 'GET', '/metrics', { token: null });
  return Number(/^reelgate_gateway_body_bytes\{state="used"\} (\d+)$/m.exec(text)?.[1]);
}

test.each([
  ['a path', '../../etc/passwd', 'passwd'],
  ['quotes and lines', 'a%22b%0d%0ac.jsonl', 'a_22b_0d_0ac.jsonl'],
  ['letters of another script', 'Aufträge-計画.jsonl', 'Auftr_ge-__.jsonl'],
])('a name with %s is harmless in the header of the content', async (_what, fileName, inHeader) => {
  const { json } = await upload([PURPOSE, { ...FILE, fileName }]);

  expect((await get(`/v1/files/${json.id}/content`)).text).toBe(`${json.id} ${inHeader} from here`);
});

test('a name of a thousand characters is cut', async () => {
  const { json } = await upload([PURPOSE, { ...FILE, fileName: `${'😀'.repeat(1000)}.jsonl` }]);

  expect(json.filename).toBe('😀'.repeat(255));
});

test('a file without a name has the name file', async () => {
  expect((await upload([PURPOSE, { name: 'file', content: LINES }])).json.filename).toBe('file');
});
