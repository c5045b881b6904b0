import { describe, expect, test } from '@jest/globals';
import { SemaphoreFull, newSemaphore } from './semaphore.ts';
import type { Semaphore } from './semaphore.ts';

const settled = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

/** Records which of its callers have their permits. */
function granting(semaphore: Semaphore): {
  readonly granted: string[];
  acquire(name: string, count?: number, signal?: AbortSignal): Promise<void>;
} {
  const granted: string[] = [];
  return {
    granted,
    acquire: async (name, count = 1, signal) => {
      await semaphore.acquire({ count, signal });
      granted.push(name);
    },
  };
}

describe('permits', () => {
  test('never exceed their number in use', async () => {
    const semaphore = newSemaphore({ permits: 3, waitingMax: 100 });
    let [running, most] = [0, 0];
    await Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        semaphore.run(async () => {
          running += 1;
          most = Math.max(most, running);
          if (index % 3 === 0) await settled();
          running -= 1;
        }),
      ),
    );

    expect([most, semaphore.inUse(), semaphore.waiting()]).toEqual([3, 0, 0]);
  });

  test('beyond the total are refused at once, and delay no later caller', async () => {
    const semaphore = newSemaphore({ permits: 2, waitingMax: 100 });
    await semaphore.acquire();

    await expect(semaphore.acquire({ count: 3 })).rejects.toThrow(SemaphoreFull);
    await semaphore.acquire();

    expect([semaphore.inUse(), semaphore.waiting()]).toEqual([2, 0]);
  });

  test('are granted in the order of arrival', async () => {
    const semaphore = newSemaphore({ permits: 1, waitingMax: 10 });
    const { granted, acquire } = granting(semaphore);
    for (const name of ['one', 'two', 'three']) void acquire(name);
    await settled();
    expect(granted).toEqual(['one']);
    semaphore.release();
    await settled();
    expect(granted).toEqual(['one', 'two']);
    semaphore.release();
    await settled();

    expect(granted).toEqual(['one', 'two', 'three']);
  });

  test('are released when the work throws', async () => {
    const semaphore = newSemaphore({ permits: 1, waitingMax: 0 });
    const failing = semaphore.run(async () => {
      throw new Error('the work failed');
    });

    await expect(failing).rejects.toThrow('the work failed');
    expect(semaphore.inUse()).toBe(0);
  });

  test('cannot be released when they are not in use', () => {
    const semaphore = newSemaphore({ permits: 2, waitingMax: 0 });
    semaphore.tryAcquire();

    expect(() => {
      semaphore.release(2);
    }).toThrow('2 permits were released, but only 1 are in use');
  });
});

describe('a caller that takes several permits', () => {
  test('is not overtaken in the queue by a smaller request', async () => {
    const semaphore = newSemaphore({ permits: 10, waitingMax: 10 });
    const { granted, acquire } = granting(semaphore);
    for (const [name, count] of [
      ['first', 6],
      ['large', 8],
      ['small', 1],
    ] as const)
      void acquire(name, count);
    await settled();
    expect(granted).toEqual(['first']);
    semaphore.release(6);
    await settled();

    expect(granted).toEqual(['first', 'large', 'small']);
  });

  test('that does not wait may take free permits even while others wait', async () => {
    const semaphore = newSemaphore({ permits: 10, waitingMax: 10 });
    semaphore.tryAcquire(6);
    void semaphore.acquire({ count: 8 });

    expect([semaphore.tryAcquire(4), semaphore.tryAcquire(1)]).toEqual([true, false]);
  });
});

describe('the queue', () => {
  test('refuses a caller when it is full', async () => {
    const semaphore = newSemaphore({ permits: 1, waitingMax: 1 });
    await semaphore.acquire();
    void semaphore.acquire();

    await expect(semaphore.acquire()).rejects.toThrow(SemaphoreFull);
  });

  test('drops a caller whose signal is aborted, and grants the next ones that fit', async () => {
    const semaphore = newSemaphore({ permits: 10, waitingMax: 10 });
    const { granted, acquire } = granting(semaphore);
    await acquire('first', 6);
    const impatient = new AbortController();
    const large = acquire('large', 8, impatient.signal);
    void acquire('small', 4);
    impatient.abort(new Error('waited for too long'));

    await expect(large).rejects.toThrow('waited for too long');
    await settled();
    expect(granted).toEqual(['first', 'small']);
    expect([semaphore.inUse(), semaphore.waiting()]).toEqual([10, 0]);
  });

  test('admits no caller whose signal is already aborted', async () => {
    const semaphore = newSemaphore({ permits: 1, waitingMax: 1 });

    await expect(semaphore.acquire({ signal: AbortSignal.abort(new Error('gone')) })).rejects.toThrow('gone');
    expect(semaphore.inUse()).toBe(0);
  });

  test('leaves a caller its permits when its signal is aborted after the grant', async () => {
    const semaphore = newSemaphore({ permits: 1, waitingMax: 1 });
    const caller = new AbortController();
    await semaphore.acquire();
    const second = semaphore.acquire({ signal: caller.signal });
    semaphore.release();
    caller.abort(new Error('gone'));

    await second;
    expect([semaphore.inUse(), semaphore.waiting()]).toEqual([1, 0]);
  });
});
