import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { timestampMs } from '@bufbuild/protobuf/wkt';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { FailureCause, TaskSchema, TaskState } from '@reelgate/proto/tasks/v1/task';
import type { Task as WireTask } from '@reelgate/proto/tasks/v1/task';
import { aTask } from '../../../testing/tasks.ts';
import type { State, Task, Usage } from '../../domain/task.ts';
import { fromWireEnum } from '../../rpc/mapping-order.ts';
import { STATE_WORDS } from '../../rpc/request-fields.ts';
import { toWireCreated, toWireTask } from './work-messages.ts';

const NOW = 2_000_000;

const overTheWire = (task: Task, now = NOW): WireTask =>
  fromBinary(TaskSchema, toBinary(TaskSchema, create(TaskSchema, toWireTask(task, now))));
const times = fc.integer({ min: 0, max: 4e12 });
const counts = fc.option(fc.nat({ max: Number.MAX_SAFE_INTEGER }), { nil: undefined });
const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });

const tasks = fc
  .record({
    id: fc.string({ minLength: 1 }),
    state: fc.constantFrom<State[]>('queued', 'in_progress', 'completed', 'failed'),
    progress: fc.nat({ max: 100 }),
    createdAt: times,
    updatedAt: times,
    finishedAt: optional(times),
    expiresAt: optional(times),
    nextPollAt: optional(times),
    seconds: fc.nat({ max: 3600 }),
    unrecognised: fc.boolean(),
    upstreamStatus: optional(fc.string()),
    result: optional(
      fc.record({
        object: fc.string(),
        prompt: fc.string({ unit: 'grapheme' }),
        bytes: fc.nat({ max: Number.MAX_SAFE_INTEGER }),
        width: fc.nat({ max: 8192 }),
        height: fc.nat({ max: 8192 }),
        durationMs: fc.nat(),
        frameRate: fc.double({ min: 0, max: 120, noNaN: true }),
      }),
    ),
    failure: optional(fc.record({ code: fc.string(), message: fc.string({ unit: 'grapheme' }) })),
    usage: optional(
      fc.record({
        totalSeconds: counts,
        inputSeconds: counts,
        outputSeconds: counts,
        inputImageCount: counts,
        inputAudioSeconds: counts,
        totalTokens: counts,
        promptTokens: counts,
        completionTokens: counts,
      }),
    ),
  })
  .map((changes) => aTask(changes as Partial<Task>));

test.each([
  ['1026', FailureCause.ORDER],
  ['video_generation_failed', FailureCause.UPSTREAM],
  ['queue_timeout', FailureCause.SERVICE],
  ['cancelled', FailureCause.UNSPECIFIED],
])('the failure %s has the cause %s', (code, cause) => {
  const { failure } = overTheWire(aTask({ state: 'failed', failure: { code, message: 'x' } }));

  expect(failure?.cause).toBe(cause);
});

test('a task is unchanged by the wire', () => {
  fc.assert(
    fc.property(tasks, (task) => {
      const wire = overTheWire(task);

      expect(backFrom(wire)).toEqual({
        id: task.id,
        accountId: task.accountId,
        state: task.state,
        progress: task.progress,
        seconds: task.seconds,
        createdAt: task.createdAt,
        updatedAt: task.updatedAt,
        finishedAt: task.finishedAt,
        expiresAt: task.expiresAt,
        result: task.result && { ...task.result, mediaType: '' },
        failure: task.failure && { ...task.failure, cause: expect.any(Number) },
        usage: task.usage,
      });
      expect(wire.unrecognisedStatus).toBe(task.unrecognised ? (task.upstreamStatus ?? '') : '');
    }),
  );
});

test.each([1e300, -1, 0.5, Number.NaN])('a number of the usage that is no count is not on the wire: %d', (number) => {
  const usage = { totalSeconds: number, totalTokens: 7 };
  expect(backFrom(overTheWire(aTask({ state: 'completed', usage })))).toHaveProperty('usage', { totalTokens: 7 });
});

test('no field on the wire shows anything of the upstream', () => {
  const task = aTask({
    upstreamStatus: 'running',
    mapping: { channel: 'secret-channel', upstreamAccount: 'secret-account', upstreamId: 'secret-id' },
    tokenId: 'secret-token',
  });

  expect(Buffer.from(toBinary(TaskSchema, create(TaskSchema, toWireTask(task, NOW)))).toString('latin1')).not.toMatch(
    /secret|running/,
  );
});

describe('the hint for pollers', () => {
  test.each([
    [NOW + 2500, 2500n],
    [NOW + 1000, 1000n],
    [NOW + 999, 1000n],
    [NOW + 1, 1000n],
    [NOW, 2000n],
    [NOW - 5000, 2000n],
    [undefined, 2000n],
  ])('of an unfinished task whose next poll is at %s is %s ms', (nextPollAt, after) => {
    for (const state of ['queued', 'in_progress'] as const)
      expect(overTheWire(aTask({ state, nextPollAt })).pollAfterMs).toBe(after);
  });

  test('of a new task is two seconds', () => {
    expect(toWireCreated(aTask()).pollAfterMs).toBe(2000n);
  });

  test.each(['completed', 'failed'] as const)('of a task that is %s is zero', (state) => {
    expect(overTheWire(aTask({ state, nextPollAt: NOW + 5000 })).pollAfterMs).toBe(0n);
  });
});

test('a created task is returned as it was created', () => {
  const created = aTask({ order: { ...aTask().order, size: '1344x768' } });
  const ended = aTask({
    ...created,
    state: 'completed',
    progress: 100,
    updatedAt: NOW,
    finishedAt: NOW,
    expiresAt: NOW,
    nextPollAt: undefined,
    result: { object: 'obj_1' },
    usage: { totalSeconds: 5 },
    unrecognised: true,
    upstreamStatus: 'paused',
    pollErrors: 3,
  });

  expect(toBinary(TaskSchema, create(TaskSchema, toWireCreated(ended)))).toEqual(
    toBinary(TaskSchema, create(TaskSchema, toWireCreated(created))),
  );
  expect(toWireCreated(ended)).toMatchObject({ state: TaskState.QUEUED, progress: 0 });
});

function backFrom(wire: WireTask): object {
  const usage =
    wire.usage &&
    (Object.fromEntries(
      Object.entries(wire.usage).flatMap(([name, value]) => (typeof value === 'bigint' ? [[name, Number(value)]] : [])),
    ) as Usage);
  const { $typeName: _result, ...result } = wire.result ?? { $typeName: '' };
  const { $typeName: _failure, ...failure } = wire.failure ?? { $typeName: '' };
  return {
    id: wire.id,
    accountId: wire.accountId,
    state: fromWireEnum(STATE_WORDS, wire.state),
    progress: wire.progress,
    seconds: wire.seconds,
    createdAt: wire.createdAt && timestampMs(wire.createdAt),
    updatedAt: wire.updatedAt && timestampMs(wire.updatedAt),
    finishedAt: wire.completedAt && timestampMs(wire.completedAt),
    expiresAt: wire.expiresAt && timestampMs(wire.expiresAt),
    result: wire.result && { ...result, bytes: Number(wire.result.bytes), durationMs: Number(wire.result.durationMs) },
    failure: wire.failure && failure,
    usage: wire.usage && usage,
  };
}
