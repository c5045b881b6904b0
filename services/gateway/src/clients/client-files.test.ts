import { expect, test } from '@jest/globals';
import { timestampMs } from '@bufbuild/protobuf/wkt';
import { FilePurpose } from '@reelgate/proto/media/v1/file_service';
import { fakeFiles } from '../../testing/fake-files.ts';
import { fakeMedia } from '../../testing/fake-services.ts';
import { clientFiles } from './client-files.ts';
import type { NewFile } from './client-files.ts';

const OUTPUT: NewFile = {
  accountId: 'demo',
  key: 'batch_1:output',
  filename: 'batch_1_output.jsonl',
  purpose: FilePurpose.BATCH_OUTPUT,
  lifetimeMs: 3_600_000,
};

function open() {
  const media = fakeMedia();
  const rows = fakeFiles(media);
  return { media, rows, files: clientFiles(rows.client, media.port) };
}

async function* lines(...given: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const line of given) yield Buffer.from(`${line}\n`);
}

const readText = async (stream: AsyncIterable<Uint8Array> | undefined): Promise<string | undefined> =>
  stream && Buffer.concat(await Array.fromAsync(stream)).toString();

test('a written file is found and read by its account alone', async () => {
  const { files } = open();
  const file = await files.write(OUTPUT, lines('one', 'two'));
  const { signal } = new AbortController();

  expect(file).toMatchObject({ bytes: 8n, purpose: FilePurpose.BATCH_OUTPUT, filename: OUTPUT.filename, tokenId: '' });
  expect(timestampMs(file.expiresAt!) - timestampMs(file.createdAt!)).toBe(OUTPUT.lifetimeMs);
  expect(await files.find('demo', file.id)).toEqual(file);
  expect(await readText(await files.read('demo', file.id, signal))).toBe('one\ntwo\n');
  expect(await files.find('other', file.id)).toBeUndefined();
  expect(await files.read('other', file.id, signal)).toBeUndefined();
  expect(await files.remove('other', file.id)).toBe(false);
  expect(await files.remove('demo', file.id)).toBe(true);
  expect(await files.read('demo', file.id, signal)).toBeUndefined();
});

test('a write that broke off is repeated under the same id, and a finished one is not repeated', async () => {
  const { rows, files } = open();
  async function* broken(): AsyncGenerator<Uint8Array> {
    yield* lines('one');
    throw new Error('the process was stopped');
  }
  await expect(files.write(OUTPUT, broken())).rejects.toThrow('stopped');
  expect(rows.files.size).toBe(0);
  const file = await files.write(OUTPUT, lines('one', 'two'));

  expect(await files.write(OUTPUT, broken())).toEqual(file);
  expect((await files.write({ ...OUTPUT, accountId: 'other' }, lines('one'))).id).not.toBe(file.id);
});

test('the signal ends a read, also before its first byte', async () => {
  const { files } = open();
  const { id } = await files.write(OUTPUT, lines('one'));
  const stop = new AbortController();
  const stream = await files.read('demo', id, stop.signal);
  stop.abort(new Error('the batch was cancelled'));
  await new Promise((resolve) => setImmediate(resolve));

  await expect(readText(stream)).rejects.toThrow('cancelled');
});
