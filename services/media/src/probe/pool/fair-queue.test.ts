import { describe, expect, test } from '@jest/globals';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import type { Permit } from './account-shares.ts';
import { newFairQueue } from './fair-queue.ts';
import type { FairQueue, QueueOptions } from './fair-queue.ts';

const OPTIONS = { workers: 2, filesMax: 1, perAccountMax: 100, totalMax: 200 };

/** A queue whose jobs the test ends, and which records the account of each job that begins. */
function aQueue(options: Partial<QueueOptions> = {}) {
  const clock = fakeClock();
  const queue: FairQueue = newFairQueue({ clock, ...OPTIONS, ...options });
  const began: string[] = [];
  const permits: { readonly account: string; readonly permit: Permit }[] = [];
  const settle = (): Promise<unknown> => new Promise((resolve) => setImmediate(resolve));
  const enter = (
    account: string,
    { isContinued = false, signal = undefined as AbortSignal | undefined, name = account } = {},
  ): Promise<void> =>
    queue.enter({ account, isContinued, signal }).then((permit) => {
      began.push(name);
      permits.push({ account, permit });
    });
  const end = async (account: string, usedMs: number): Promise<void> => {
    await settle();
    const at = permits.findIndex((running) => running.account === account);
    permits.splice(at, 1)[0]?.permit.end(usedMs);
    await settle();
  };
  return { clock, queue, began, enter, end, settle };
}

describe('workers are shared by account:', () => {
  test('one account never has all workers, even alone, because a running file is not interrupted', async () => {
    const { began, enter, settle } = aQueue();
    for (let count = 0; count < 5; count += 1) void enter('flood');
    await settle();
    expect(began).toEqual(['flood']);

    void enter('other');
    await settle();
    expect(began).toEqual(['flood', 'other']);
  });

  test('one worker serves the accounts in rotation, whatever their numbers of waiting files', async () => {
    const { began, enter, end, settle } = aQueue({ workers: 1 });
    for (let count = 0; count < 5; count += 1) void enter('flood');
    for (let count = 0; count < 2; count += 1) void enter('other');
    await settle();
    for (const account of ['flood', 'other', 'flood', 'other']) await end(account, 10);

    expect(began).toEqual(['flood', 'other', 'flood', 'other', 'flood']);
  });

  test('an account that used more processor time comes after the accounts that used less', async () => {
    const { began, enter, end, settle } = aQueue({ workers: 1 });
    void enter('burns');
    await settle();
    for (let count = 0; count < 3; count += 1) void enter('burns');
    for (let count = 0; count < 3; count += 1) void enter('works');
    await end('burns', 400);
    for (let count = 0; count < 3; count += 1) await end('works', 50);

    expect(began).toEqual(['burns', 'works', 'works', 'works', 'burns']);
  });

  test('past use is forgotten with time', async () => {
    const { clock, began, enter, end, settle } = aQueue({ workers: 1 });
    void enter('burned');
    await end('burned', 5000);
    await clock.advance(600_000);
    void enter('works');
    await settle();
    void enter('burned');
    void enter('works');
    await end('works', 50);

    expect(began).toEqual(['burned', 'works', 'burned']);
  });

  test('accounts whose files take long share all workers but one', async () => {
    const { began, enter, end, settle } = aQueue({ workers: 3 });
    for (const account of ['one', 'two', 'three']) {
      void enter(account);
      await end(account, 5000);
    }
    began.splice(0);
    for (const account of ['one', 'two', 'three']) void enter(account);
    await settle();
    expect(began).toEqual(['one', 'two']);

    void enter('short');
    await settle();
    expect(began).toEqual(['one', 'two', 'short']);
  });

  test('a worker with several files has room for another account, and one place for long files', async () => {
    const { began, enter, end, settle } = aQueue({ workers: 1, filesMax: 4 });
    for (let count = 0; count < 5; count += 1) void enter('flood');
    void enter('other');
    await settle();
    expect(began).toEqual(['flood', 'flood', 'flood', 'other']);

    await end('other', 10);
    for (let count = 0; count < 5; count += 1) await end('flood', 5000);
    began.splice(0);
    for (let count = 0; count < 3; count += 1) void enter('flood');
    await settle();
    expect(began).toEqual(['flood']);
  });

  test('an account whose files become short is served by all workers again', async () => {
    const { began, enter, end, settle } = aQueue({ workers: 3 });
    for (const usedMs of [5000, 10, 10, 10, 10, 10, 10, 10, 10]) {
      void enter('one');
      await end('one', usedMs);
    }
    began.splice(0);
    for (const account of ['two', 'two', 'three']) void enter(account);
    await end('two', 5000);
    void enter('one');
    await settle();

    expect(began).toContain('one');
  });
});

describe('the queue is limited', () => {
  test('by account, even if others have room, and the refusal has the time of the next try', async () => {
    const { enter, settle, end } = aQueue({ perAccountMax: 3 });
    void enter('flood');
    await end('flood', 5000);
    for (let count = 0; count < 4; count += 1) void enter('flood');
    await settle();

    await expect(enter('flood')).rejects.toMatchObject({
      kind: 'unavailable',
      reason: 'media_busy',
      retryAfterMs: expect.any(Number),
    });
    await expect(enter('flood')).rejects.toMatchObject({ retryAfterMs: 3 * 1640 });
    await enter('other');
  });

  test('by the time that the files of an account take', async () => {
    const { enter, settle, end } = aQueue();
    for (let count = 0; count < 20; count += 1) {
      void enter('flood');
      await end('flood', 10_000);
    }
    for (let count = 0; count < 8; count += 1) void enter('flood');
    await settle();

    await expect(enter('flood')).rejects.toMatchObject({ reason: 'media_busy', retryAfterMs: 60_000 });
  });

  test('over all', async () => {
    const { enter, settle } = aQueue({ workers: 1, totalMax: 3 });
    for (const account of ['a', 'b', 'c', 'd']) void enter(account);
    await settle();

    await expect(enter('e')).rejects.toMatchObject({ reason: 'media_busy', retryAfterMs: 1000 });
  });

  test('but the next step of a running job is accepted and goes first', async () => {
    const { began, enter, end, settle } = aQueue({ workers: 1, perAccountMax: 2 });
    void enter('a', { name: 'probe 1' });
    await settle();
    void enter('a', { name: 'probe 2' });
    void enter('a', { name: 'probe 3' });
    void enter('a', { isContinued: true, name: 'redraw 1' });
    await end('a', 10);

    expect(began).toEqual(['probe 1', 'redraw 1']);
  });

  test('and a caller that leaves makes room', async () => {
    const { enter, settle, end, began } = aQueue({ workers: 1, perAccountMax: 1 });
    const leaving = new AbortController();
    void enter('a');
    await settle();
    const left = enter('a', { signal: leaving.signal });
    leaving.abort(new Error('gone'));

    await expect(left).rejects.toThrow('gone');
    void enter('a', { name: 'next' });
    await end('a', 10);
    expect(began).toEqual(['a', 'next']);
    await expect(enter('b', { signal: AbortSignal.abort(new Error('gone')) })).rejects.toThrow('gone');
  });

  test('and a stopped queue has no waiting job and accepts none', async () => {
    const { queue, enter, settle } = aQueue({ workers: 1 });
    void enter('a');
    await settle();
    const waiting = enter('a');
    queue.stop();

    await expect(waiting).rejects.toMatchObject({ reason: 'media_busy' });
    await expect(enter('b')).rejects.toMatchObject({ reason: 'media_busy' });
  });
});
