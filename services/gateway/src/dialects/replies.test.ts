import { describe, expect, test } from '@jest/globals';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { TaskKind } from '@reelgate/proto/tasks/v1/order';
import { TaskState } from '@reelgate/proto/tasks/v1/task';
import type { Task } from '@reelgate/proto/tasks/v1/task';
import { Secret } from '@reelgate/platform/secret';
import { CREATED_MS, aCompletedTask, aQueuePlace, aTask, aWholeTask, anOrder } from '../../testing/a-task.ts';
import { expectGolden } from '../../testing/golden.ts';
import { newLinkSigner } from '../http/signed-links.ts';
import { dialects } from './index.ts';

const links = newLinkSigner('https://gateway.example', new Secret('a key'));
const ended = { updatedAt: timestampFromMs(CREATED_MS + 5000), completedAt: timestampFromMs(CREATED_MS + 5000) };
const regeneration = anOrder({
  kind: TaskKind.REGENERATION,
  content: [],
  sourceTaskId: 'task_source',
  resolution: '2K',
});
delete regeneration.duration;
delete regeneration.ratio;
const contextIr = anOrder({ kind: TaskKind.CONTEXT_IR });
delete contextIr.resolution;

const tasks: Readonly<Record<string, Task>> = {
  queued: aTask({ order: anOrder({ size: '1280x720' }) }),
  'queued until its turn': aTask({ queue: aQueuePlace() }),
  in_progress: aTask({ state: TaskState.IN_PROGRESS, progress: 40 }),
  completed: aCompletedTask(),
  'completed with every field': aWholeTask(),
  'completed without usage': aCompletedTask({ usage: undefined as never }),
  failed: aTask({
    state: TaskState.FAILED,
    failure: { code: '1026', message: 'video description contains sensitive content' },
    ...ended,
  }),
  cancelled: aTask({
    state: TaskState.FAILED,
    failure: { code: 'cancelled', message: 'the task was cancelled' },
    ...ended,
  }),
  'unrecognised word': aTask({ state: TaskState.IN_PROGRESS, unrecognisedStatus: 'paused_by_moon' }),
  'completed regeneration': aCompletedTask({ order: regeneration }),
  'queued context-IR': aTask({ order: contextIr }),
  'completed context-IR': aCompletedTask({
    order: contextIr,
    result: { prompt: 'integrated_multimodal_description: …' },
    usage: { totalTokens: 9090n, promptTokens: 5664n, completionTokens: 3426n },
  }),
};

const folderOf = (dialect: string): string => `replies/${dialect.toLowerCase().replace(/\W+/g, '-').replace(/-$/, '')}`;
const rows = <R extends { readonly operationId: string }>(pick: (dialect: (typeof dialects)[number]) => readonly R[]) =>
  dialects.flatMap((dialect) =>
    pick(dialect).map((route) => [`${folderOf(dialect.name)}/${route.operationId}`, route] as const),
  );

describe('a create', () => {
  test.each(rows(({ creates }) => creates))('%s answers as in the golden file', (name, route) => {
    expectGolden(name, route.answer.encode(tasks['queued']!, links));
  });
  test.each(rows(({ creates }) => creates))('%s has no place, because a repeat has the same answer', (_name, route) => {
    expect(route.answer.encode(tasks['queued until its turn']!, links)).toEqual(route.answer.encode(aTask(), links));
  });
  test.each(rows(({ creates }) => creates))('%s depends only on the task', (_name, route) => {
    expect(JSON.stringify(route.answer.encode(structuredClone(tasks['queued']!), links))).toBe(
      JSON.stringify(route.answer.encode(tasks['queued']!, links)),
    );
  });
});

describe('a read', () => {
  test.each(rows(({ reads }) => reads))('%s shows every state as in the golden file', (name, route) => {
    expectGolden(
      name,
      Object.fromEntries(Object.entries(tasks).map(([state, task]) => [state, route.answer.encode(task, links)])),
    );
  });
  test.each(rows(({ reads }) => reads))('%s has a link only to a completed video, at this service', (_name, route) => {
    for (const [state, task] of Object.entries(tasks)) {
      const read = links.toAddress(`/api/v1/videos/${task.id}`);
      const urls = (JSON.stringify(route.answer.encode(task, links)).match(/https?:[^"]+/g) ?? []).filter(
        (url) => url !== read,
      );
      expect([
        state,
        urls.every((url) => url.startsWith('https://gateway.example/ximg/obj_0123456789.mp4?exp=')),
        urls.length > 0,
      ]).toEqual([state, true, state.startsWith('completed') && !state.includes('context-IR')]);
    }
  });
});

test.each(rows(({ lists }) => lists))('the page %s is as in the golden file', (name, route) => {
  const charges = new Map();
  expectGolden(name, {
    page: route.answer.encode(
      { tasks: [tasks['completed']!, tasks['queued']!], hasMore: true, total: 7, charges },
      links,
    ),
    empty: route.answer.encode({ tasks: [], hasMore: false, total: 0, charges }, links),
  });
});

test.each(rows(({ ends }) => ends))('the end %s is as in the golden file', (name, route) => {
  expectGolden(
    name,
    route.ends === 'cancel'
      ? { cancelled: route.answer.encode(tasks['cancelled']!, links) }
      : { deleted: route.answer.encode(tasks['completed']!.id) },
  );
});
