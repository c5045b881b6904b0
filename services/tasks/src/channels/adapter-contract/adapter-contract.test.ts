import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe } from '@jest/globals';
import type { Adapter, PollResult, UpstreamAnswer } from '@reelgate/adapter-kit';
import { readObject, readText } from '@reelgate/adapter-kit/kit';
import { runAdapterContract } from '../../../testing/run-adapter-contract.ts';

const PHASES = { running: 'running', done: 'succeeded', broken: 'failed' } as const;

/** An API with its key in `x-api-key`, polls by POST, no queue, no list and no cancel. */
const unlike: Adapter = {
  kit: 1,
  endpoints: ['video.generation'],
  credential: { header: 'x-api-key' },
  openCalls: () => ({
    buildSubmit: ({ model }) => ({ method: 'POST', path: '/submit', json: { model } }),
    readSubmit: ({ body }) => {
      const upstreamId = readText(readObject(body)['id']);
      return upstreamId === undefined ? { outcome: 'unknown', error: 'no id' } : { outcome: 'accepted', upstreamId };
    },
    *poll(id) {
      return toPollResult(yield { method: 'POST', path: '/poll', json: { id } });
    },
    *test() {
      const { status } = yield { method: 'POST', path: '/test', json: {} };
      return { ok: status === 200, detail: 'answered' };
    },
  }),
};

function toPollResult({ body }: UpstreamAnswer): PollResult {
  const status = readText(readObject(body)['state']);
  if (status === undefined) return { found: false, gone: false, error: 'no state' };
  const phase = Object.hasOwn(PHASES, status) ? PHASES[status as keyof typeof PHASES] : 'unrecognised';
  if (phase === 'failed')
    return { found: true, report: { phase, status, failure: { code: 'broken', message: 'broken' } } };
  return { found: true, report: { phase, status } };
}

const ok = (json: object): object => ({ status: 200, json });
const polled = (state: string, report: object): object => ({
  name: state,
  answer: ok({ state }),
  request: { method: 'POST', path: '/poll', body: { id: '424010985738629' } },
  polled: { found: true, report: { status: state, ...report } },
});
const CASES: Readonly<Record<string, object>> = {
  suite: { lacksPhases: ['queued'] },
  'submit-requests': [
    {
      name: 'a text',
      attempt: { key: 'task_1-1', kind: 'generation', model: 'up-1', content: [{ text: 'a fox' }] },
      request: { method: 'POST', path: '/submit', body: { model: 'up-1' } },
    },
  ],
  'submit-answers': [{ name: 'an id', answer: ok({ id: 'a' }), submission: { outcome: 'accepted', upstreamId: 'a' } }],
  polls: [
    polled('running', { phase: 'running' }),
    polled('done', { phase: 'succeeded' }),
    polled('broken', { phase: 'failed', failure: { code: 'broken', message: 'broken' } }),
    polled('odd', { phase: 'unrecognised' }),
  ],
  lists: [],
  cancels: [],
  tests: [
    {
      name: 'an answer',
      answer: ok({}),
      request: { method: 'POST', path: '/test', body: {} },
      tested: { ok: true, detail: 'answered' },
    },
  ],
};

const fixtures = mkdtempSync(path.join(tmpdir(), 'adapter-fixtures-'));
for (const [name, cases] of Object.entries(CASES))
  writeFileSync(path.join(fixtures, `${name}.json`), JSON.stringify(cases));
afterAll(() => {
  rmSync(fixtures, { recursive: true });
});

describe('the contract of adapters accepts an API with its key in a header of its own, and without a list or a cancel', () => {
  runAdapterContract({ name: 'unlike', adapter: unlike, fixtures });
});
