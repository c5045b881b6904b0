import { expect, test } from '@jest/globals';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import fc from 'fast-check';
import { describeOnEngines } from '../../../testing/describe-on-engines.ts';
import type { TestBilling } from '../../../testing/open-billing.ts';
import { sqlSessionStore } from '../../store/sessions/sql-session-store.ts';
import type { SessionStore } from '../../store/sessions/session-store.ts';
import { removeExpiredSessions } from './end-sessions.ts';

const HOUR_MS = 3_600_000;
/** Twelve hours after the test clock's start. */
const EXPIRES_AT = Date.UTC(2026, 0, 1, 12);
const NARROW = { ofSubjectMax: 2, rowsMax: 5, expiredBefore: 0 };

const end = async ({ sessions }: TestBilling, subject: string, digest = ''): Promise<bigint> => {
  const session = digest === '' ? {} : { session: { digest, expiresAt: timestampFromMs(EXPIRES_AT) } };
  return (await sessions.endSessions({ subject, ...session })).version;
};
const since = ({ sessions }: TestBilling, version: bigint) => sessions.listEndedSessions({ since: version });
const ending = (subject: string, digest: string) => ({ subject, session: { digest, expiresAt: EXPIRES_AT } });

/** What a gateway knows that reads the list from time to time. */
function follower(store: SessionStore) {
  const rows = new Map<string, number>();
  let [version, allBefore] = [0, 0];
  return {
    read: async () => {
      const list = await store.list(version);
      ({ version, allBefore } = list);
      for (const { subject, session, version: at } of list.ended) rows.set(`${subject} ${session?.digest ?? ''}`, at);
    },
    hasEnded: (subject: string, digest: string, begunAt: number): boolean =>
      begunAt < allBefore || begunAt < (rows.get(`${subject} `) ?? 0) || rows.has(`${subject} ${digest}`),
  };
}

describeOnEngines('ended sessions', (open) => {
  test('are listed since the version that a gateway knows, after a restart too', async () => {
    const on = await open();
    const first = await end(on, 'token:one', 'digest-1');
    const second = await end(on, 'operator:ada');
    const again = await on.restart();

    expect(await since(again, 0n)).toMatchObject({
      version: second,
      allBefore: 0n,
      ended: [
        {
          subject: 'token:one',
          session: { digest: 'digest-1', expiresAt: timestampFromMs(EXPIRES_AT) },
          version: first,
        },
        { subject: 'operator:ada', version: second },
      ],
    });
    expect((await since(again, first)).ended).toHaveLength(1);
    expect((await since(again, second)).ended).toEqual([]);
  });

  test('that end twice are listed once', async () => {
    const on = await open();
    await end(on, 'token:one', 'digest-1');
    await end(on, 'token:one', 'digest-1');

    expect((await since(on, 0n)).ended).toHaveLength(1);
  });

  test('need the time at which they would have ended', async () => {
    const on = await open();

    await expect(on.sessions.endSessions({ subject: 'token:one', session: { digest: 'x' } })).rejects.toMatchObject({
      kind: 'invalid',
      field: 'session.expires_at',
    });
  });

  test('of which one subject has too many become all sessions of that subject, and of no other', async () => {
    const on = await open();
    await end(on, 'token:other', 'digest');
    let last = 0n;
    for (let at = 0; at < 33; at += 1) last = await end(on, 'token:one', `digest-${at}`);

    const { ended, allBefore } = await since(on, 0n);
    expect(ended.map(({ subject, session, version }) => [subject, session?.digest, version])).toEqual([
      ['token:other', 'digest', expect.anything()],
      ['token:one', undefined, last],
    ]);
    expect(allBefore).toBe(0n);
  });

  test('that are too many end every session', async () => {
    const { sql } = await open();
    const store = sqlSessionStore(sql);
    for (const subject of ['a', 'b', 'c', 'd', 'e']) await store.end(ending(subject, 'x'), NARROW);
    const before = await store.list(0);
    const version = await store.end(ending('f', 'x'), NARROW);

    expect([before.allBefore, before.ended.length]).toEqual([0, 5]);
    expect(await store.list(0)).toEqual({ version, allBefore: version, ended: [] });
  });

  test('that have expired make room first', async () => {
    const { sql } = await open();
    const store = sqlSessionStore(sql);
    const late = { ...NARROW, expiredBefore: EXPIRES_AT + 1 };
    for (const subject of ['a', 'b', 'c', 'd', 'e']) await store.end(ending(subject, 'x'), NARROW);
    await store.end({ subject: 'f', session: { digest: 'x', expiresAt: EXPIRES_AT + HOUR_MS } }, late);

    expect(await store.list(0)).toMatchObject({ allBefore: 0, ended: [{ subject: 'f' }] });
  });

  test('are forgotten an hour after they would have expired, and all sessions of a subject never', async () => {
    const on = await open();
    const deps = { sessions: sqlSessionStore(on.sql), clock: on.clock };
    await end(on, 'token:one', 'digest');
    await end(on, 'token:two');
    await on.clock.advance(EXPIRES_AT + HOUR_MS - on.clock.now());
    await removeExpiredSessions(deps);
    const before = (await since(on, 0n)).ended.length;
    await on.clock.advance(1);
    await removeExpiredSessions(deps);

    expect([before, (await since(on, 0n)).ended.map(({ subject }) => subject)]).toEqual([2, ['token:two']]);
  });

  test('at the same time have versions of their own, and none is missed', async () => {
    const on = await open();
    const versions = await Promise.all(Array.from({ length: 20 }, (_, at) => end(on, `token:${at}`, 'x')));

    expect(new Set(versions).size).toBe(20);
    expect((await since(on, 0n)).ended).toHaveLength(20);
  });

  test('never become valid again, whatever else ends and whenever a gateway reads the list', async () => {
    const { sql } = await open();
    const store = sqlSessionStore(sql);
    const act = fc.record({
      subject: fc.constantFrom('a', 'b', 'c'),
      does: fc.constantFrom('begin', 'end', 'end', 'end all', 'read', 'read late'),
      pick: fc.nat(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(act, { maxLength: 40 }), async (acts) => {
        const [prompt, late] = [follower(store), follower(store)];
        const [begun, ended]: { subject: string; digest: string; begunAt: number }[][] = [[], []];
        for (const { subject, does, pick } of acts) {
          const own = begun!.filter((one) => one.subject === subject);
          const one = own[pick % Math.max(1, own.length)];
          if (does === 'begin')
            begun!.push({ subject, digest: `${subject}${pick}`, begunAt: (await store.list(0)).version });
          if (does === 'end' && one !== undefined) {
            await store.end(ending(subject, one.digest), NARROW);
            ended!.push(one);
          }
          if (does === 'end all') {
            await store.end({ subject, session: undefined }, NARROW);
            ended!.push(...own);
          }
          if (does === 'read late') await late.read();
          await prompt.read();
          for (const gone of ended!) expect(prompt.hasEnded(gone.subject, gone.digest, gone.begunAt)).toBe(true);
        }
        await late.read();
        for (const gone of ended!) expect(late.hasEnded(gone.subject, gone.digest, gone.begunAt)).toBe(true);
      }),
      { numRuns: 60 },
    );
  });
});
