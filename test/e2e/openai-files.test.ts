import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import OpenAI, { toFile } from 'openai';
import { newProgram } from '../harness/program.ts';
import type { Program } from '../harness/program.ts';
import { KEYS } from '../harness/test-config.ts';

const START_TIMEOUT_MS = 60_000;
const TEST_TIMEOUT_MS = 60_000;
const NO_UPSTREAM = '127.0.0.1:9';
const LINES = '{"custom_id":"1","method":"POST","url":"/v1/videos","body":{}}\n';
const MIB = 1024 * 1024;

let program: Program;
let client: OpenAI;
let stranger: OpenAI;
beforeAll(async () => {
  program = await newProgram('one program', { upstream: NO_UPSTREAM }, (config) => ({
    ...config,
    gateway: { ...config.gateway, batches: true },
    media: { ...config.media, files: { max_bytes: '8MiB', per_account: '20MiB', count_per_account: 5 } },
  }));
  await program.start();
  const clientOf = (apiKey: string) => new OpenAI({ apiKey, baseURL: `${program.base}/v1`, maxRetries: 0 });
  client = clientOf(KEYS.demo);
  stranger = clientOf(KEYS.other);
}, START_TIMEOUT_MS);
afterAll(() => program?.end(), START_TIMEOUT_MS);

const upload = async (text = LINES, name = 'orders.jsonl'): Promise<OpenAI.FileObject> =>
  client.files.create({ file: await toFile(Buffer.from(text), name), purpose: 'batch' });

test(
  "OpenAI's client creates, waits for, reads, lists and deletes files",
  async () => {
    const file = await upload();
    expect(file).toMatchObject({ object: 'file', bytes: LINES.length, filename: 'orders.jsonl', status: 'processed' });
    expect(await client.files.waitForProcessing(file.id)).toEqual(file);
    expect(await client.files.retrieve(file.id)).toEqual(file);
    const content = await client.files.content(file.id);
    expect([await content.text(), content.headers.get('content-disposition')]).toEqual([
      LINES,
      'inline; filename="orders.jsonl"',
    ]);
    const short = await client.files.create({
      file: await toFile(Buffer.from(LINES), 'short.jsonl'),
      purpose: 'batch',
      expires_after: { anchor: 'created_at', seconds: 3600 },
    });
    expect(short.expires_at).toBe(short.created_at + 3600);

    const listed = await Array.fromAsync(client.files.list({ limit: 1, order: 'asc', purpose: 'batch' }));
    expect(listed).toEqual([file, short]);
    expect((await client.files.list()).data).toEqual([short, file]);
    for (const { id } of listed) expect(await client.files.delete(id)).toEqual({ id, object: 'file', deleted: true });
    expect((await client.files.list()).data).toEqual([]);
    await expect(client.files.retrieve(file.id)).rejects.toMatchObject({ status: 404, code: 'file_not_found' });
  },
  TEST_TIMEOUT_MS,
);

test(
  'a file of megabytes comes back as it was sent, whole and in ranges, and only to its account',
  async () => {
    const bytes = Buffer.alloc(8 * MIB, 'a line of an order, again and again\n');
    const { id } = await client.files.create({ file: await toFile(bytes, 'large.jsonl'), purpose: 'batch' });
    const hash = (of: Buffer): string => createHash('sha256').update(of).digest('hex');
    const got = Buffer.from(await (await client.files.content(id)).arrayBuffer());
    expect(hash(got)).toBe(hash(bytes));
    const part = await client.files.content(id, { headers: { range: 'bytes=36-40' } });
    expect([part.status, await part.text()]).toEqual([206, 'a lin']);

    for (const call of [stranger.files.retrieve(id), stranger.files.content(id), stranger.files.delete(id)])
      await expect(call).rejects.toMatchObject({ status: 404, code: 'file_not_found' });
    expect((await stranger.files.list()).data).toEqual([]);

    const tooLarge = toFile(Buffer.alloc(8 * MIB + 1), 'larger.jsonl');
    await expect(client.files.create({ file: await tooLarge, purpose: 'batch' })).rejects.toMatchObject({
      status: 413,
      code: 'body_too_large',
    });
    await client.files.delete(id);
  },
  TEST_TIMEOUT_MS,
);

test(
  'the files of an account are bounded, and a refused one leaves nothing',
  async () => {
    const files = await Promise.all(Array.from({ length: 5 }, () => upload()));
    await expect(upload()).rejects.toMatchObject({ status: 422, code: 'file_limit' });
    await client.files.delete(files[0]!.id);
    await expect(
      client.files.create({ file: await toFile(Buffer.from(LINES), 'a.jsonl'), purpose: 'vision' }),
    ).rejects.toMatchObject({ status: 400, code: 'invalid_request', param: 'purpose' });
    expect((await upload()).status).toBe('processed');
  },
  TEST_TIMEOUT_MS,
);
