import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { isProblem } from '@reelgate/platform/problem';
import { TokenRight } from '@reelgate/proto/billing/v1/token_right';
import { describeOnEngines } from '../../../testing/describe-on-engines.ts';
import { CENT } from '../../../testing/books.ts';
import { aConfig, order } from '../../../testing/open-billing.ts';
import type { TestBilling } from '../../../testing/open-billing.ts';

/** What a hold of `order` takes. */
const HOLD = 40n * CENT;
const CONFIG = aConfig({ token: { name: 'main', tokens: 'write' } });

/** A token that the maker makes, which may make others. */
async function makeToken(on: TestBilling, makerTokenId: string, limitNanos?: bigint): Promise<string> {
  const { token } = await on.accounts.createToken({
    accountId: 'demo',
    name: 'made',
    models: ['*'],
    tokens: TokenRight.WRITE,
    makerTokenId,
    ...(limitNanos === undefined ? {} : { limitNanos }),
  });
  return token!.id;
}

const limitTo = (on: TestBilling, id: string, limitNanos: bigint) => on.accounts.updateTokenLimits({ id, limitNanos });
const spend = (on: TestBilling, tokenId: string, task: string): Promise<string> =>
  on.billing.placeHold({ ...order(on, task), tokenId }).then(
    () => 'held',
    (error: unknown) => {
      if (!isProblem(error)) throw error;
      return `${error.reason}: ${error.message}`;
    },
  );

describeOnEngines('the principal of a token', (open) => {
  test('names its makers with their limits, the nearest first, also those that were revoked', async () => {
    const on = await open(CONFIG);
    const child = await makeToken(on, on.tokenId);
    const grandchild = await makeToken(on, child);
    await on.accounts.updateTokenLimits({ id: on.tokenId, limits: { inFlight: 3 } });
    await on.accounts.revokeToken({ id: child });

    const { principal } = await on.billing.getPrincipal({ tokenId: grandchild });

    expect(principal?.makers).toMatchObject([{ tokenId: child }, { tokenId: on.tokenId, limits: { inFlight: 3 } }]);
    expect((await on.billing.getPrincipal({ tokenId: on.tokenId })).principal?.makers).toEqual([]);
  });

  test('names at most eight makers', async () => {
    const on = await open(CONFIG);
    let last = on.tokenId;
    for (let depth = 1; depth <= 8; depth += 1) last = await makeToken(on, last);

    await expect(makeToken(on, last)).rejects.toMatchObject({ kind: 'unprocessable', reason: 'too_many_tokens' });
    expect((await on.billing.getPrincipal({ tokenId: last })).principal?.makers).toHaveLength(8);
  });
});

describeOnEngines('the spending limit of a maker', (open) => {
  test('bounds the holds of all that it made, also where it was set later', async () => {
    const on = await open(CONFIG);
    const child = await makeToken(on, on.tokenId);
    const grandchild = await makeToken(on, child);
    await limitTo(on, on.tokenId, 2n * HOLD);

    expect([await spend(on, child, 'task_1'), await spend(on, grandchild, 'task_2')]).toEqual(['held', 'held']);
    expect(await spend(on, child, 'task_3')).toBe(
      'insufficient_quota: a limit of the API key that made this one leaves too little, but this request needs 0.4 USD',
    );
    await expect(
      on.billing.checkHold({ accountId: 'demo', tokenId: grandchild, facts: order(on, 'task_4').facts }),
    ).rejects.toMatchObject({ reason: 'insufficient_quota' });
    expect(await spend(on, on.tokenId, 'task_5')).toMatch(
      /^insufficient_quota: the API key has 0 USD of its limit left/,
    );
    expect((await on.accounts.verifyLedger({})).faults).toEqual([]);
  });

  test('leaves room again when a hold is released, and still counts after its maker was revoked', async () => {
    const on = await open(CONFIG);
    const child = await makeToken(on, on.tokenId);
    const sibling = await makeToken(on, on.tokenId);
    await limitTo(on, on.tokenId, HOLD);
    await on.accounts.revokeToken({ id: on.tokenId });
    await spend(on, child, 'task_1');

    expect(await spend(on, sibling, 'task_2')).toMatch(/^insufficient_quota/);
    await on.billing.releaseHold({ taskId: 'task_1' });
    expect(await spend(on, sibling, 'task_3')).toBe('held');
  });

  test('bounds holds that come at the same time', async () => {
    const on = await open(CONFIG);
    const children = await Promise.all(Array.from({ length: 6 }, () => makeToken(on, on.tokenId)));
    await limitTo(on, on.tokenId, 3n * HOLD);

    const outcomes = await Promise.all([...children, ...children].map((child, at) => spend(on, child, `task_${at}`)));

    expect(outcomes.filter((outcome) => outcome === 'held')).toHaveLength(3);
    expect((await on.accounts.verifyLedger({})).faults).toEqual([]);
  });

  test('is never exceeded, whatever a tree of tokens holds and releases', async () => {
    const steps = fc.array(fc.record({ token: fc.nat({ max: 5 }), isRelease: fc.boolean() }), { maxLength: 25 });
    const tree = fc.record({ makers: fc.array(fc.nat(), { minLength: 6, maxLength: 6 }), steps });
    await fc.assert(
      fc.asyncProperty(tree, async ({ makers, steps }) => {
        const on = await open(CONFIG);
        const ids = [on.tokenId];
        const lines = [[0]];
        for (let at = 1; at < 6; at += 1) {
          const maker = (makers[at] ?? 0) % at;
          ids.push(await makeToken(on, ids[maker]!));
          lines.push([at, ...lines[maker]!]);
        }
        const limits = ids.map((_id, at) => BigInt(1 + ((makers[at] ?? 0) % 3)));
        for (const [at, id] of ids.entries()) await limitTo(on, id, limits[at]! * HOLD);
        const held: { readonly task: string; readonly line: readonly number[] }[] = [];
        const isFull = (at: number): boolean =>
          BigInt(held.filter(({ line }) => line.includes(at)).length) >= limits[at]!;
        for (const [number, { token, isRelease }] of steps.entries()) {
          const task = `task_${number}`;
          if (isRelease) await on.billing.releaseHold({ taskId: held.shift()?.task ?? task });
          else {
            const line = lines[token]!;
            const expected = line.some(isFull) ? 'refused' : 'held';
            const outcome = (await spend(on, ids[token]!, task)) === 'held' ? 'held' : 'refused';
            expect(outcome).toBe(expected);
            if (outcome === 'held') held.push({ task, line });
          }
        }
      }),
      { numRuns: 6 },
    );
  });
});

/** The demo token made left and right, left made leaf and gone, gone made below; stranger is an operator's own. */
async function growTree(on: TestBilling) {
  const left = await makeToken(on, on.tokenId);
  const right = await makeToken(on, on.tokenId);
  const leaf = await makeToken(on, left);
  const gone = await makeToken(on, left);
  const below = await makeToken(on, gone);
  await on.accounts.revokeToken({ id: gone });
  const stranger = (await on.accounts.createToken({ accountId: 'demo', models: ['*'], tokens: TokenRight.WRITE }))
    .token!;
  return { root: on.tokenId, left, right, leaf, gone, below, stranger: stranger.id };
}

type Name = keyof Awaited<ReturnType<typeof growTree>>;

describeOnEngines('a token revokes', (open) => {
  const namesLeft = async (on: TestBilling, tree: Record<Name, string>): Promise<Name[]> => {
    const { tokens } = await on.accounts.listTokens({ accountId: 'demo' });
    const live = new Set(tokens.filter(({ revokedAt }) => revokedAt === undefined).map(({ id }) => id));
    return (Object.keys(tree) as Name[]).filter((name) => live.has(tree[name]));
  };

  test('itself and what it made, and nothing else exists for it', async () => {
    const on = await open(CONFIG);
    const tree = await growTree(on);
    const all = ['root', 'left', 'right', 'leaf', 'below', 'stranger'];
    const denied: readonly (readonly [revoker: Name, token: Name])[] = [
      ['left', 'root'],
      ['left', 'right'],
      ['left', 'stranger'],
      ['leaf', 'left'],
      ['leaf', 'below'],
      ['stranger', 'root'],
      ['stranger', 'leaf'],
    ];
    for (const [revoker, token] of denied)
      for (const withMade of [false, true])
        await expect(
          on.accounts.revokeToken({ id: tree[token], revokerTokenId: tree[revoker], withMade }),
        ).rejects.toMatchObject({ kind: 'not_found', reason: 'token_not_found', field: 'id' });
    expect(await namesLeft(on, tree)).toEqual(all);

    for (const [revoker, token] of [
      ['root', 'below'],
      ['left', 'leaf'],
      ['right', 'right'],
    ] as const)
      // prettier-ignore
      await on.accounts.revokeToken({ id: tree[token], revokerTokenId: tree[revoker] });
    expect(await namesLeft(on, tree)).toEqual(['root', 'left', 'stranger']);
  });

  test.each<readonly [Name, boolean, number, readonly Name[]]>([
    ['left', false, 0, ['root', 'right', 'leaf', 'below', 'stranger']],
    ['left', true, 2, ['root', 'right', 'stranger']],
    ['gone', true, 1, ['root', 'left', 'right', 'leaf', 'stranger']],
    ['root', true, 4, ['stranger']],
    ['leaf', true, 0, ['root', 'left', 'right', 'below', 'stranger']],
  ])('of a tree %s, with what it made: %s', async (name, withMade, madeRevoked, left) => {
    const on = await open(CONFIG);
    const tree = await growTree(on);

    expect((await on.accounts.revokeToken({ id: tree[name], withMade })).madeRevoked).toBe(madeRevoked);
    expect(await namesLeft(on, tree)).toEqual(left);
    expect((await on.accounts.revokeToken({ id: tree[name], withMade })).madeRevoked).toBe(0);
    expect(await namesLeft(on, tree)).toEqual(left);
  });

  test('what it made while that is being made at the same time, so that none is left', async () => {
    const on = await open(CONFIG);
    const left = await makeToken(on, on.tokenId);
    const makes = Array.from({ length: 10 }, () => makeToken(on, left).catch(() => undefined));
    await on.accounts.revokeToken({ id: on.tokenId, withMade: true });
    await Promise.all(makes);

    const { tokens } = await on.accounts.listTokens({ accountId: 'demo' });
    expect(tokens.filter(({ revokedAt }) => revokedAt === undefined)).toEqual([]);
  });

  test('all of a tree with an act for each token, or none of it if an act fails', async () => {
    const on = await open(CONFIG);
    const tree = await growTree(on);
    await on.sql.write('ALTER TABLE operator_acts RENAME TO operator_acts_away', []);
    await expect(on.accounts.revokeToken({ id: tree.root, withMade: true })).rejects.toMatchObject({});
    await on.sql.write('ALTER TABLE operator_acts_away RENAME TO operator_acts', []);
    expect(await namesLeft(on, tree)).toContain('root');

    await on.accounts.revokeToken({ id: tree.root, revokerTokenId: tree.root, withMade: true });
    const { acts } = await on.accounts.listActs({});
    expect(acts.filter(({ subject }) => subject === tree.below)).toMatchObject([
      { action: 'token_revoked', actor: 'token main', detailJson: expect.stringContaining(tree.root) },
      { action: 'token_created' },
    ]);
  });
});
