import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { inspect } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { Secret, acceptOnly } from '@reelgate/platform/secret';
import { SIGNING_KEY, aNewEndpoint, useWebhookWorlds } from '../../../testing/webhooks/open-webhook-world.ts';
import type { WebhookWorld } from '../../../testing/webhooks/open-webhook-world.ts';
import { catchRefusalFields } from '@reelgate/platform/testing/refusals';
import { createEndpoint, OLD_SECRET_MS, rotateSecret } from './manage-endpoints.ts';
import { resealSecrets } from './secrets.ts';

const open = useWebhookWorlds();
const NEW_KEY = new Secret('the next signing key');
const BOTH = { signatures: [NEW_KEY, SIGNING_KEY], tokens: [NEW_KEY, SIGNING_KEY] } as const;
const DEFAULT = { accountId: 'acme', endpointId: 'default' };

const texts = (secrets: readonly Secret[] | undefined): readonly string[] =>
  (secrets ?? []).map((secret) => secret.reveal());

async function withEndpoint() {
  const world = await open();
  const { endpoint, secret } = await createEndpoint(world.deps, aNewEndpoint());
  return { world, name: { accountId: 'acme', endpointId: endpoint.id }, secret };
}

const signing = ({ deps }: WebhookWorld, { accountId, endpointId }: typeof DEFAULT) =>
  deps.secrets.openSecrets(accountId, endpointId).then(texts);

describe('the secret of an endpoint', () => {
  test('has 32 random bytes, and its hint shows eight characters of it', async () => {
    const { world, name, secret } = await withEndpoint();

    expect(secret.reveal()).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    const stored = (await world.deps.webhooks.findSecrets([name.endpointId])).get(name.endpointId);
    expect(stored?.hint).toBe(`whsec_${secret.reveal().slice(6, 10)}…${secret.reveal().slice(-4)}`);
  });

  test('is never the same for two endpoints', async () => {
    const { world, secret } = await withEndpoint();

    expect((await createEndpoint(world.deps, aNewEndpoint())).secret.reveal()).not.toBe(secret.reveal());
  });

  test('stands neither in the store nor in the log, and does not print', async () => {
    const { world, name, secret } = await withEndpoint();
    await rotateSecret(world.deps, name, { keepOld: true });
    const text = secret.reveal().slice('whsec_'.length);

    const rows = await world.sql.read('SELECT * FROM webhook_secrets');

    expect(rows).toHaveLength(1);
    expect(JSON.stringify(rows)).not.toContain(text);
    expect(world.lines.join('\n')).not.toContain(text);
    expect(inspect(await createEndpoint(world.deps, aNewEndpoint()), { depth: 9 })).not.toMatch(/whsec_.{20}/);
  });

  test('is absent once the endpoint is deleted', async () => {
    const { world, name } = await withEndpoint();
    await world.deps.webhooks.removeEndpoint('acme', name.endpointId, world.clock.now());

    expect(await signing(world, name)).toEqual([]);
  });

  test('is reported, and signs nothing, if no accepted key opens it', async () => {
    const { world, name } = await withEndpoint();
    const deps = world.withKeys(acceptOnly(NEW_KEY));

    expect(await deps.secrets.openSecrets('acme', name.endpointId)).toEqual([]);
    expect(world.lines.at(-1)).toContain('no accepted signing key opens the secret of a webhook endpoint');
  });
});

describe('the secret of default', () => {
  test('is made when it is first asked for, and stays', async () => {
    const world = await open();

    const first = await signing(world, DEFAULT);

    expect(first).toHaveLength(1);
    expect(await signing(world, DEFAULT)).toEqual(first);
    expect(await signing(world, { ...DEFAULT, accountId: 'rival' })).not.toEqual(first);
  });

  test('is the same for two that ask at the same time', async () => {
    const world = await open();

    const [one, other] = await Promise.all([signing(world, DEFAULT), signing(world, DEFAULT)]);

    expect(one).toEqual(other);
    expect(await signing(world, DEFAULT)).toEqual(one);
  });

  test('is made by its first rotation', async () => {
    const world = await open();

    const { secret, endpoint } = await rotateSecret(world.deps, DEFAULT, { keepOld: true });

    expect(await signing(world, DEFAULT)).toEqual([secret.reveal()]);
    expect(endpoint).toMatchObject({
      id: 'default',
      createdAt: timestampFromMs(world.clock.now()),
      updatedAt: timestampFromMs(world.clock.now()),
    });
  });
});

test('the secrets of several endpoints come in one answer, without those that do not exist', async () => {
  const { world, name, secret } = await withEndpoint();

  const found = await world.deps.secrets.openManySecrets([
    name,
    DEFAULT,
    { accountId: 'acme', endpointId: 'whe_none' },
  ]);

  expect([...found.keys()].toSorted()).toEqual(['default:acme', name.endpointId]);
  expect(texts(found.get(name.endpointId))).toEqual([secret.reveal()]);
});

describe('a rotation', () => {
  test('ends the old secret at once', async () => {
    const { world, name } = await withEndpoint();

    const { secret } = await rotateSecret(world.deps, name, { keepOld: false });

    expect(await signing(world, name)).toEqual([secret.reveal()]);
  });

  test('keeps the old secret for 24 hours if its owner asks for it', async () => {
    const { world, name, secret: before } = await withEndpoint();

    const { secret } = await rotateSecret(world.deps, name, { keepOld: true });

    expect(await signing(world, name)).toEqual([secret.reveal(), before.reveal()]);
    await world.clock.advance(OLD_SECRET_MS - 1);
    expect(await signing(world, name)).toEqual([secret.reveal(), before.reveal()]);
    await world.clock.advance(1);
    expect(await signing(world, name)).toEqual([secret.reveal()]);
  });

  test('is seen in the hint and in the time of the last change', async () => {
    const { world, name } = await withEndpoint();
    const createdAt = world.clock.now();
    await world.clock.advance(5000);

    const { secret, endpoint } = await rotateSecret(world.deps, name, { keepOld: false });

    expect(endpoint).toMatchObject({
      createdAt: timestampFromMs(createdAt),
      updatedAt: timestampFromMs(createdAt + 5000),
    });
    expect(endpoint.secretHint.slice(-4)).toBe(secret.reveal().slice(-4));
  });

  test('of two at the same time one is refused, and the secret of the other signs', async () => {
    const { world, name } = await withEndpoint();

    const rotations = await Promise.allSettled([1, 2].map(() => rotateSecret(world.deps, name, { keepOld: false })));

    const won = rotations.flatMap((one) => (one.status === 'fulfilled' ? [one.value.secret.reveal()] : []));
    expect(won).toHaveLength(1);
    expect(await signing(world, name)).toEqual(won);
    expect(rotations).toContainEqual({
      status: 'rejected',
      reason: expect.objectContaining({ kind: 'unavailable', reason: 'service_unavailable' }),
    });
  });

  test('repairs a secret that no accepted key opens', async () => {
    const { world, name } = await withEndpoint();
    const deps = world.withKeys(acceptOnly(NEW_KEY));

    const { secret } = await rotateSecret(deps, name, { keepOld: true });

    expect(texts(await deps.secrets.openSecrets('acme', name.endpointId))).toEqual([secret.reveal()]);
  });

  test.each([
    ['an unknown endpoint', { accountId: 'acme', endpointId: 'whe_none' }],
    ['an endpoint of another account', { accountId: 'rival', endpointId: '' }],
  ])('of %s is refused', async (_what, asked) => {
    const { world, name } = await withEndpoint();

    expect(
      await catchRefusalFields(rotateSecret(world.deps, { ...name, ...dropEmpty(asked) }, { keepOld: false })),
    ).toMatchObject({ kind: 'not_found', reason: 'webhook_endpoint_not_found' });
  });
});

const dropEmpty = (name: typeof DEFAULT): Partial<typeof DEFAULT> =>
  name.endpointId === '' ? { accountId: name.accountId } : name;

describe('after a change of the signing key', () => {
  test('secrets open with the old key until they are sealed anew, and then without it', async () => {
    const { world, name, secret: first } = await withEndpoint();
    const { secret: second } = await rotateSecret(world.deps, name, { keepOld: true });
    const both = world.withKeys(BOTH);
    const expected = [second.reveal(), first.reveal()];
    expect(texts(await both.secrets.openSecrets('acme', name.endpointId))).toEqual(expected);

    expect(await resealSecrets(both)).toBe(1);

    const next = world.withKeys(acceptOnly(NEW_KEY));
    expect(texts(await next.secrets.openSecrets('acme', name.endpointId))).toEqual(expected);
    expect(await resealSecrets(both)).toBe(0);
  });

  test('the time of the last change stays', async () => {
    const { world, name } = await withEndpoint();
    const found = () => world.deps.webhooks.findSecrets([name.endpointId]);
    const before = (await found()).get(name.endpointId);
    await world.clock.advance(5000);

    await resealSecrets(world.withKeys(BOTH));

    expect((await found()).get(name.endpointId)).toEqual({
      ...before,
      sealed: expect.not.stringMatching(before!.sealed),
    });
  });

  test('every page of secrets is sealed anew', async () => {
    const world = await open();
    const accounts = Array.from({ length: 401 }, (_, at) => `account-${at}`);
    await world.deps.secrets.openManySecrets(accounts.map((accountId) => ({ ...DEFAULT, accountId })));

    expect(await resealSecrets(world.withKeys(BOTH))).toBe(401);
  });

  test('a secret that no accepted key opens is reported and left as it is', async () => {
    const { world, name } = await withEndpoint();

    expect(await resealSecrets(world.withKeys(acceptOnly(NEW_KEY)))).toBe(0);
    expect(world.lines.at(-1)).toContain(name.endpointId);
    expect(await signing(world, name)).toHaveLength(1);
  });
});

test('an old secret that no longer signs is dropped from the store', async () => {
  const { world, name } = await withEndpoint();
  await rotateSecret(world.deps, name, { keepOld: true });
  await world.clock.advance(OLD_SECRET_MS);

  expect(await resealSecrets(world.deps)).toBe(1);

  expect((await world.deps.webhooks.findSecrets([name.endpointId])).get(name.endpointId)?.old).toBeUndefined();
});
