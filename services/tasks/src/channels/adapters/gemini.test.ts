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

const REJECTED = failure('content_rejected', 'the generator refused the content');
const NOTHING_MADE = failure('no_result', 'the generator ended the task without a result');

// The contract suite polls one id, which is that of an interaction.
test.each<[string, object, object]>([
  ['a name alone', { name: NAME }, { phase: 'running', status: 'not done' }],
  ['that it is not done', { done: false }, { phase: 'running', status: 'not done' }],
  ['a video', samples(URI), { phase: 'succeeded', status: 'done', url: URI }],
  ['several videos', samples(URI, `${URI}2`), { phase: 'succeeded', status: 'done', url: URI }],
  ['a sample without an address', samples(null), { phase: 'succeeded', status: 'done' }],
  ['an empty response', done({}), NOTHING_MADE],
  ['no response', { name: NAME, done: true }, NOTHING_MADE],
  ['no samples', done({ generateVideoResponse: { generatedSamples: [] } }), NOTHING_MADE],
  ['no videos', done({ videos: [] }), NOTHING_MADE],
  ['no videos, and that no filter took any', done({ raiMediaFilteredCount: 0, videos: [] }), NOTHING_MADE],
  ['no videos, in words', done({ videos: [], message: 'Out of capacity' }), failure('no_result', 'Out of capacity')],
  ['a video of Vertex', done({ videos: [{ uri: URI }] }), { phase: 'succeeded', url: URI }],
  [
    'the bytes of a video, as Vertex does',
    done({ videos: [{ bytesBase64Encoded: 'AAAA', mimeType: 'video/mp4' }] }),
    {
      phase: 'succeeded',
      url: expect.stringMatching(/operations\/abc$/),
      base64At: '/response/videos/0/bytesBase64Encoded',
    },
  ],
  [
    'the bytes of a sample',
    done({ generateVideoResponse: { generatedSamples: [{ video: { encodedVideo: 'AAAA' } }] } }),
    { phase: 'succeeded', base64At: '/response/generateVideoResponse/generatedSamples/0/video/encodedVideo' },
  ],
  ['a video and no error', { ...samples(URI), error: null }, { phase: 'succeeded', url: URI }],
  [
    'a video beside a filtered one',
    done({ generateVideoResponse: { raiMediaFilteredCount: 1, generatedSamples: [{ video: { uri: URI } }] } }),
    { phase: 'succeeded', url: URI },
  ],
  [
    'that its only video was filtered',
    done({ generateVideoResponse: { raiMediaFilteredCount: 1, raiMediaFilteredReasons: ['Celebrities'] } }),
    failure('content_rejected', 'Celebrities'),
  ],
  ['a count of filtered videos alone', done({ raiMediaFilteredCount: 1 }), REJECTED],
  ['a count of filtered videos as a text', done({ raiMediaFilteredCount: '1', videos: [] }), REJECTED],
  ['a nested count as a text', done({ generateVideoResponse: { raiMediaFilteredCount: '2' } }), REJECTED],
  ['a count in the names of a gateway', done({ rai_media_filtered_count: 1 }), REJECTED],
  [
    'a reason of a filter without a count',
    done({ raiMediaFilteredReasons: ['No'] }),
    failure('content_rejected', 'No'),
  ],
  [
    'a count in one part and reasons in the other',
    done({ raiMediaFilteredReasons: ['No'], generateVideoResponse: { raiMediaFilteredCount: 1 } }),
    { phase: 'failed', failure: { code: 'content_rejected' } },
  ],
  [
    'a filtered text',
    done({ generateVideoResponse: { raiTextFilteredReason: { category: 'CELEBRITY' } } }),
    failure('content_rejected', 'CELEBRITY'),
  ],
  ['a blocked prompt', done({ promptFeedback: { blockReason: 'SAFETY' } }), failure('content_rejected', 'SAFETY')],
  ['an error', failed({ code: 13, message: 'Internal error' }), failure('13', 'Internal error')],
  ['an error without a message', failed({ code: 8 }), failure('8', 'the generator ended the task without a result')],
  [
    'an error for safety',
    failed({ code: 3, message: 'The prompt was blocked for safety reasons.' }),
    failure('content_rejected', 'The prompt was blocked for safety reasons.'),
  ],
  [
    'an error for the words of a filter',
    failed({ code: 3, message: "The prompt contains words that violate the provider's usage guidelines." }),
    failure('content_rejected', "The prompt contains words that violate the provider's usage guidelines."),
  ],
  [
    'an error for a parameter',
    failed({ code: 3, message: 'durationSeconds is out of bound' }),
    failure('3', 'durationSeconds is out of bound'),
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
