import { createHash } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { computeFingerprint } from './fingerprint.ts';

const MIB = 1024 * 1024;
const fingerprint = (body: Parameters<typeof computeFingerprint>[0]['body']): Promise<string> =>
  computeFingerprint({ method: 'POST', path: '/v1/videos', body });
/** The digest of these texts, each with its length. */
const digest = (parts: readonly (string | Buffer)[]): string => {
  const hash = createHash('sha256').update('"4:POST"10:/v1/videos');
  for (const part of parts) hash.update(part);
  return hash.digest('base64url');
};

test.each([
  ['short', 'a 🚤'],
  ['of 9 MiB', 'x'.repeat(9 * MIB)],
  ['of characters of two units', `x${'🚤'.repeat(3 * MIB)}`],
])('a text that is %s has the digest of its UTF-8', async (_, prompt) => {
  expect(await fingerprint({ json: { prompt, n: [1, true] } })).toBe(
    digest(['{2', '"1:n', '[2!1;!true;', '"6:prompt', `"${prompt.length}:`, prompt]),
  );
});

test('a form has the digest of its fields and of the content of its files', async () => {
  const chunks = [Buffer.alloc(5 * MIB, 1), Buffer.alloc(3, 2)];
  const form = { fields: [['model', 'm'] as const], files: [{ name: 'file', mediaType: 'image/png', chunks }] };

  expect(await fingerprint({ form })).toBe(
    digest(['"5:model"1:m', '"4:file"9:image/png', createHash('sha256').update(Buffer.concat(chunks)).digest()]),
  );
});

test('other work goes on while a large body is hashed', async () => {
  let turns = 0;
  let isOver = false;
  const count = (): void => {
    turns += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);

  await fingerprint({ json: { image: 'x'.repeat(32 * MIB) } });
  isOver = true;

  expect(turns).toBeGreaterThanOrEqual(8);
});
