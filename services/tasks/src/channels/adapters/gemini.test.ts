import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { systemClock } from '@reelgate/platform/clock';
import { channelSettings } from '../../../testing/channel-settings.ts';
import { openScriptedUpstream } from '../adapter-contract/scripted-upstream.ts';
import type { ScriptedUpstream } from '../adapter-contract/scripted-upstream.ts';
import { channelFactory } from '../adapter-channel.ts';
import type { Channel } from '../channel.ts';
import { gemini } from './gemini.ts';

const NAME = 'models/veo-3.1-generate-preview/operations/abc';
const URI = 'https://generativelanguage.googleapis.com/v1beta/files/x:download?alt=media';
const REJECTED = { code: 'content_rejected', message: 'the generator refused the content' };

let upstream: ScriptedUpstream;
let channel: Channel;

beforeAll(async () => {
  upstream = await openScriptedUpstream();
  channel = channelFactory(gemini)(channelSettings({ baseUrl: upstream.url }), systemClock);
});
afterEach(() => {
  upstream.script();
});
afterAll(async () => {
  await channel.close();
  await upstream.close();
});

const done = (response: unknown): object => ({ name: NAME, done: true, response });
const failed = (error: object): object => ({ name: NAME, done: true, error });
const samples = (...uris: unknown[]): object =>
  done({ generateVideoResponse: { generatedSamples: uris.map((uri) => ({ video: { uri } })) } });
const failure = (code: string, message: string): object => ({
  phase: 'failed',
  status: 'done',
  failure: { code, message },
});

// The contract suite polls one id, which is that of an interaction.
test.each<[string, object, object]>([
  ['a name alone', { name: NAME }, { phase: 'running', status: 'not done' }],
  ['that it is not done', { done: false }, { phase: 'running', status: 'not done' }],
  ['a video', samples(URI), { phase: 'succeeded', status: 'done', url: URI }],
  ['several videos', samples(URI, `${URI}2`), { phase: 'succeeded', status: 'done', url: URI }],
  ['a sample without an address', samples(null), { phase: 'succeeded', status: 'done' }],
  ['no samples', done({}), { phase: 'succeeded', status: 'done' }],
  ['no response', { name: NAME, done: true }, { phase: 'succeeded', status: 'done' }],
  ['a video and no error', { ...samples(URI), error: null }, { phase: 'succeeded', url: URI }],
  [
    'a video beside a filtered one',
    done({ generateVideoResponse: { raiMediaFilteredCount: 1, generatedSamples: [{ video: { uri: URI } }] } }),
    { phase: 'succeeded', url: URI },
  ],
  [
    'that its only video was filtered',
    done({ generateVideoResponse: { raiMediaFilteredCount: 1, raiMediaFilteredReasons: ['Celebrities'] } }),
    { phase: 'failed', failure: REJECTED },
  ],
  ['an error', failed({ code: 13, message: 'Internal error' }), failure('13', 'Internal error')],
  ['an error without a message', failed({ code: 8 }), failure('8', 'the generator ended the task without a result')],
  [
    'an error for safety',
    failed({ code: 3, message: 'The prompt was blocked for safety reasons.' }),
    { phase: 'failed', failure: REJECTED },
  ],
])('an operation that says %s', async (_what, json, report) => {
  upstream.script({ status: 200, json });

  expect(await channel.poll(NAME, new AbortController().signal)).toMatchObject({ found: true, report });
  expect(upstream.requests).toMatchObject([{ method: 'GET', path: `/v1beta/${NAME}`, body: undefined }]);
});

test.each([
  [200, {}, false],
  [400, { error: { code: 400, message: 'Bad request', status: 'INVALID_ARGUMENT' } }, false],
  [403, [{ error: { code: 403, message: 'Denied', status: 'PERMISSION_DENIED' } }], false],
  [404, { error: { code: 404, message: 'Not found', status: 'NOT_FOUND' } }, true],
  [503, { error: { code: 503, message: 'Overloaded', status: 'UNAVAILABLE' } }, false],
])('an operation is gone only if the upstream does not know it: %i', async (status, json, gone) => {
  upstream.script({ status, json });

  expect(await channel.poll(NAME, new AbortController().signal)).toMatchObject({ found: false, gone });
});
