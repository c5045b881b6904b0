import { buffer } from 'node:stream/consumers';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { openInlineStream } from './submit-order.ts';

const medium = (base64: string) =>
  openInlineStream({ item: 0, field: 'content[0]', declaredType: 'image/png', bytes: { base64 } });

test('base64 is decoded, padded or not, in many pieces too', async () => {
  const big = Buffer.alloc(2_500_001, 'reel');
  for (const bytes of [Buffer.from('a'), Buffer.from('ab'), Buffer.from('abc'), big]) {
    expect((await buffer(medium(bytes.toString('base64')).stream)).equals(bytes)).toBe(true);
    expect((await buffer(medium(bytes.toString('base64').replace(/=+$/, '')).stream)).equals(bytes)).toBe(true);
  }
});

test('any bytes survive encoding and decoding', async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 300 }), async (bytes) => {
      const written = Buffer.from(bytes)
        .toString('base64')
        .replace(/(.{7})/g, '$1\n');
      expect(Buffer.compare(await buffer(medium(written).stream), bytes)).toBe(0);
    }),
  );
});

describe('invalid base64 ends the stream with a refusal', () => {
  test.each(['', '====', '!!!!', 'AAAAA', 'AA-_', 'AA\u0000A', `${'A'.repeat(3_000_000)}*`])('%#', async (text) => {
    const { stream, fault } = medium(text);

    await expect(buffer(stream)).rejects.toThrow();
    expect(fault()).toMatchObject({ reason: 'invalid_media', field: 'content[0]' });
  });
});

test('a file yields its chunks', async () => {
  const { stream, fault } = openInlineStream({
    item: 0,
    field: 'input_reference',
    declaredType: '',
    bytes: { chunks: [Buffer.from('ab'), Buffer.from('c')] },
  });

  expect((await buffer(stream)).toString()).toBe('abc');
  expect(fault()).toBeUndefined();
});
