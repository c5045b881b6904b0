import { expect, test } from '@jest/globals';
import { systemRandom } from '@reelgate/platform/ids';
import { Secret, acceptOnly } from '@reelgate/platform/secret';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import { sessionSeal } from './seal-session.ts';
import type { SessionSealOptions } from './seal-session.ts';

const KEY = new Secret('the key that signs');
const LIFETIME_MS = 60_000;
const clock = fakeClock();
const SESSION = { key: 'sk-token-0123456789', subject: 'token:token_1', version: 7 };
const seal = (over: Partial<SessionSealOptions> = {}) =>
  sessionSeal({
    keys: acceptOnly(KEY),
    purpose: 'console-session',
    lifetimeMs: LIFETIME_MS,
    clock,
    random: systemRandom,
    ...over,
  });

test('a session opens at every process with the same signing key, and shows nothing of the token', () => {
  const sealed = seal().seal(SESSION);

  expect(seal().open(sealed)).toMatchObject(SESSION);
  expect(sealed).toMatch(/^[\w-]+$/);
  expect(Buffer.from(sealed, 'base64url').toString('latin1')).not.toContain('sk-token');
});

test('two sessions of one token differ', () => {
  expect(seal().seal(SESSION)).not.toBe(seal().seal(SESSION));
});

test('a session ends with its lifetime', async () => {
  const sealed = seal().seal(SESSION);
  await clock.advance(LIFETIME_MS - 1);
  const before = seal().open(sealed);
  await clock.advance(1);

  expect([before, seal().open(sealed)]).toEqual([expect.objectContaining(SESSION), undefined]);
});

test('a session of one door opens no other', () => {
  expect(seal({ purpose: 'operator-session' }).open(seal().seal(SESSION))).toBeUndefined();
});

test('a session of the key before opens while that key is accepted, and not after', () => {
  const sealed = seal().seal(SESSION);
  const next = new Secret('the next key');

  expect(seal({ keys: { ...acceptOnly(next), signatures: [next, KEY] } }).open(sealed)).toMatchObject(SESSION);
  expect(seal({ keys: acceptOnly(next) }).open(sealed)).toBeUndefined();
});

test('a changed or foreign cookie is no session', () => {
  const sealed = Buffer.from(seal().seal(SESSION), 'base64url');
  const changed = [...sealed.keys()].map((at) => {
    const copy = Buffer.from(sealed);
    copy[at] = (copy[at] ?? 0) ^ 1;
    return copy.toString('base64url');
  });

  for (const text of [...changed, '', 'x', 'A'.repeat(40), 'A'.repeat(10_000)])
    expect(seal().open(text)).toBeUndefined();
});
