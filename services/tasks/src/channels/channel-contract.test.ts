import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe } from '@jest/globals';
import { channelContract } from '../../testing/channel-contract.ts';
import { anOrder } from '../../testing/orders.ts';
import { channelFactory } from './adapter.ts';
import type { Channel, ChannelFactory, PollResult, Submission } from './channel.ts';
import type { WholeAnswer } from './upstream-exchange.ts';
import { readObject, readText } from './json-fields.ts';
import { toSubmission, upstreamHttp } from './upstream-http.ts';
import type { UpstreamAnswer } from './upstream-http.ts';

const PHASES = { running: 'running', done: 'succeeded', broken: 'failed' } as const;

/** An API with its key in `x-api-key`, polls by POST, no queue, no list and no cancel. */
const openChannel: ChannelFactory = (settings, clock): Channel => {
  const http = upstreamHttp({ baseUrl: settings.baseUrl, clock }, () => ({ 'x-api-key': settings.apiKey.reveal() }));
  const post = (name: string, body: object, timeoutMs: number, signal: AbortSignal): Promise<UpstreamAnswer> =>
    http.call({ method: 'POST', path: `/${name}`, body, timeoutMs }, signal);
  return {
    settings,
    submit: async ({ model }, signal) =>
      toSubmission(await post('submit', { model }, settings.submitTimeoutMs, signal), readOutcome),
    poll: async (id, signal) => toPollResult(await post('poll', { id }, settings.pollTimeoutMs, signal)),
    list: async () => undefined,
    cancel: async () => false,
    test: async (signal) => {
      const answer = await post('test', {}, settings.pollTimeoutMs, signal);
      return answer.kind === 'answer'
        ? { ok: answer.status === 200, detail: 'answered' }
        : { ok: false, detail: answer.error };
    },
    close: () => http.close(),
  };
};

function readOutcome(answer: WholeAnswer): Submission {
  const upstreamId = readText(readObject(answer.body)['id']);
  return upstreamId === undefined ? { outcome: 'unknown', error: 'no id' } : { outcome: 'accepted', upstreamId };
}

function toPollResult(answer: UpstreamAnswer): PollResult {
  const status = answer.kind === 'answer' ? readText(readObject(answer.body)['state']) : undefined;
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
const CASES: Readonly<Record<string, readonly object[]>> = {
  'submit-requests': [
    {
      name: 'a text',
      attempt: { kind: 'generation', model: 'up-1', order: anOrder(), content: [{ text: 'a fox' }] },
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
  channelContract({
    name: 'unlike',
    factory: channelFactory({ endpoints: ['video.generation'], openChannel }),
    fixtures,
    credentialHeader: 'x-api-key',
    lacksPhases: ['queued'],
  });
});
