import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { Secret } from '@reelgate/platform/secret';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import { KEY, aConfig, openBilling, temporaryLocation } from '../../../testing/open-billing.ts';
import type { Location, TestBilling } from '../../../testing/open-billing.ts';

const [OLD, NEW] = [new Secret('the old signing key'), new Secret('the new signing key')];
const keys = (first: Secret, ...others: Secret[]) => ({ signatures: [first], tokens: [first, ...others] }) as const;

let location: Location;
const clock = fakeClock();
let running: TestBilling[] = [];
const start = async (acceptedKeys: ReturnType<typeof keys>): Promise<TestBilling> => {
  const billing = await openBilling(location, aConfig(), clock, acceptedKeys);
  running.push(billing);
  return billing;
};
beforeEach(() => {
  location = temporaryLocation();
});
afterEach(async () => {
  for (const billing of running) await billing.stop();
  running = [];
  location.remove();
});

const tokensOf = async ({ accounts }: TestBilling): Promise<number> => (await accounts.listTokens({})).tokens.length;
const idOf = async ({ billing }: TestBilling): Promise<string | undefined> =>
  (await billing.authenticate({ key: KEY })).principal?.tokenId;

test('a token works under a new signing key while the old one is accepted, and is the same token', async () => {
  const before = await start(keys(OLD));
  const id = await idOf(before);
  const count = await tokensOf(before);
  const after = await start(keys(NEW, OLD));

  expect(id).toMatch(/^token_/);
  expect(await idOf(after)).toBe(id);
  expect(await tokensOf(after)).toBe(count);
});

test('a token that was used under the new signing key works without the old one', async () => {
  await start(keys(OLD));
  const during = await start(keys(NEW, OLD));
  const id = await idOf(during);
  const after = await start(keys(NEW));

  expect(await idOf(after)).toBe(id);
  expect(await tokensOf(after)).toBe(await tokensOf(during));
});

test('replicas of which each has another current key both know a token, in any order', async () => {
  const old = await start(keys(OLD, NEW));
  const next = await start(keys(NEW, OLD));
  for (let round = 0; round < 3; round += 1) {
    const ids = await Promise.all([old, next, next, old].map(idOf));
    expect(new Set(ids).size).toBe(1);
  }
});

test('without the old signing key, a token that was never used under the new one is unknown', async () => {
  const before = await start(keys(OLD));
  const { key } = await before.accounts.createToken({ accountId: 'demo', models: ['*'] });
  const after = await start(keys(NEW));

  await expect(after.billing.authenticate({ key })).rejects.toMatchObject({ kind: 'unauthenticated' });
});
