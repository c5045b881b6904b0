import { describe, expect, test } from '@jest/globals';
import { AccountService } from '@reelgate/proto/billing/v1/account_service';
import { MediaService as MediaContract } from '@reelgate/proto/media/v1/media_service';
import { aGate } from '../../testing/bounded-waits.ts';
import { partialService, silenceRpcLibraries } from '../../testing/partial-service.ts';
import { openConnect, closingTransports, TRANSPORTS } from '../../testing/rpc-transports.ts';
import { unruled } from '../../testing/unruled.ts';
import { fakeClock } from '../../testing/fake-clock.ts';
import { computeDeadline, combineSignals, recordDeadline, workMsWithin } from '../passed-deadline.ts';

const MediaService = unruled(MediaContract);
const openFor = closingTransports();
silenceRpcLibraries();

/** Deadlines are sent as the time that is left, so that of the callee may be later by the time on the way. */
const ON_THE_WAY_MS = 500;

/** The client of Connect is that of a third party. */
const OURS = TRANSPORTS.filter(([, open]) => open !== openConnect);

describe.each(OURS)('a service that calls another over %s', (_name, open) => {
  /** The milliseconds that the other service has, if the caller of the first has this long. */
  async function leftAfter(callerMs: number | undefined, ownMs: number | undefined): Promise<number> {
    let left = Number.NaN;
    const other = await openFor(
      open,
      partialService(AccountService, {
        getAccount: async (_request, { signal }) => {
          left = (computeDeadline(signal, undefined) ?? Infinity) - Date.now();
          return {};
        },
      }),
    );
    const accounts = other.client(AccountService);
    const first = await openFor(
      openConnect,
      partialService(MediaService, {
        stageMedia: async (_request, { signal }) => {
          const bounds = combineSignals(signal, new AbortController().signal);
          await accounts.getAccount({ id: 'demo' }, { signal: bounds, timeoutMs: ownMs });
          return {};
        },
      }),
    );
    await first.client(MediaService).stageMedia({ accountId: 'demo' }, { timeoutMs: callerMs });
    return left;
  }

  test('passes on what is left of the deadline of its caller', async () => {
    const left = await leftAfter(10_000, undefined);

    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThanOrEqual(10_000 + ON_THE_WAY_MS);
  });

  test('keeps its own time limit if that ends earlier', async () => {
    expect(await leftAfter(60_000, 10_000)).toBeLessThanOrEqual(10_000 + ON_THE_WAY_MS);
  });

  test('has its own time limit if its caller has no deadline', async () => {
    const left = await leftAfter(undefined, 20_000);

    expect(left).toBeGreaterThan(1000);
    expect(left).toBeLessThanOrEqual(20_000 + ON_THE_WAY_MS);
  });

  test('answers that the deadline has passed, also if the other service says so first', async () => {
    const gate = aGate();
    const other = await openFor(
      open,
      partialService(AccountService, { getAccount: () => gate.opened.then(() => ({})) }),
    );
    const accounts = other.client(AccountService);
    const first = await openFor(
      openConnect,
      partialService(MediaService, {
        stageMedia: async (_request, { signal }) => {
          await accounts.getAccount({ id: 'demo' }, { signal });
          return {};
        },
      }),
    );
    const call = (): Promise<unknown> =>
      fetch(`http://127.0.0.1:${first.port}/reelgate.media.v1.MediaService/StageMedia`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'connect-timeout-ms': '100',
          authorization: 'Bearer key-of-the-program',
        },
        body: JSON.stringify({ accountId: 'demo' }),
      }).then((answer) => answer.json());

    const answers = await Promise.all(Array.from({ length: 20 }, call));
    gate.open();

    expect(new Set(answers.map((answer) => (answer as { code: string }).code))).toEqual(new Set(['deadline_exceeded']));
  });
});

describe('the work for a call', () => {
  const signalOf = (leftMs: number): AbortSignal => {
    const { signal } = new AbortController();
    recordDeadline(signal, Date.now() + leftMs);
    return signal;
  };

  test('ends before the call does, and within its own bound', () => {
    const ms = workMsWithin(signalOf(4000), 20_000);

    expect(ms).toBeGreaterThan(1000);
    expect(ms).toBeLessThan(4000);
    expect(workMsWithin(signalOf(60_000), 5000)).toBe(5000);
    expect(workMsWithin(new AbortController().signal, 5000)).toBe(5000);
  });

  test('has a second at least: a process that comes to the call late says nothing against what it asks', () => {
    expect(workMsWithin(signalOf(100), 5000)).toBe(1000);
    expect(workMsWithin(signalOf(-100), 500)).toBe(500);
  });
});

test('the time for the work is measured by the clock of the deadline, also through a combined signal', () => {
  const clock = fakeClock();
  const call = new AbortController().signal;
  recordDeadline(call, clock.now() + 4000, clock);
  const either = combineSignals(call, new AbortController().signal);

  expect([workMsWithin(call, 20_000), workMsWithin(either, 20_000)]).toEqual([3500, 3500]);
  expect(computeDeadline(either, 60_000, clock)).toBe(clock.now() + 4000);
});
