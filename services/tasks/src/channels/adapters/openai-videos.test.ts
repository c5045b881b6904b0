import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { systemClock } from '@reelgate/platform/clock';
import type { Clock } from '@reelgate/platform/clock';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import { until } from '@reelgate/platform/testing/until';
import { anAttempt } from '../../../testing/an-attempt.ts';
import { channelSettings } from '../../../testing/channel-settings.ts';
import { openScriptedUpstream } from '../adapter-contract/scripted-upstream.ts';
import type { ScriptedAnswer, ScriptedUpstream } from '../adapter-contract/scripted-upstream.ts';
import { channelFactory } from '../adapter-channel.ts';
import type { AttemptItem, Channel, ChannelSettings, PlannedAttempt } from '../channel.ts';
import { openaiVideos } from './openai-videos.ts';
import { findFrame, formatSize } from './openai-videos.report.ts';

/** Longer than any test runs. */
const LONG_MS = 600_000;
const FRAME: AttemptItem = { media: 'image', role: 'first_frame', url: 'data:image/png;base64,iVBORw0KGgo=' };
const withMedia = (...media: AttemptItem[]): PlannedAttempt => anAttempt({ content: [{ text: 'a fox' }, ...media] });

let upstream: ScriptedUpstream;
const opened: Channel[] = [];

beforeAll(async () => {
  upstream = await openScriptedUpstream();
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((channel) => channel.close()));
});
afterAll(() => upstream.close());

function open(changes: Partial<ChannelSettings> = {}, clock: Clock = systemClock): Channel {
  const channel = channelFactory(openaiVideos)(
    channelSettings({ baseUrl: upstream.url, submitTimeoutMs: 10_000, ...changes }),
    clock,
  );
  opened.push(channel);
  return channel;
}

describe('a form', () => {
  const signal = (): AbortSignal => new AbortController().signal;

  test.each<[string, ScriptedAnswer, object]>([
    ['an id is accepted', { status: 200, json: { id: 'video_1' } }, { outcome: 'accepted', upstreamId: 'video_1' }],
    [
      'an answer of 429 is a throttle',
      { status: 429, headers: { 'retry-after': '7' }, json: { error: { message: 'slow down' } } },
      { outcome: 'refused', fault: 'throttle', retryAfterMs: 7000 },
    ],
    ['an answer without JSON is an unknown outcome', { status: 200, text: '<html>' }, { outcome: 'unknown' }],
    ['a reset is an unknown outcome', 'reset', { outcome: 'unknown' }],
    ['a cut connection is an unknown outcome', 'cut', { outcome: 'unknown' }],
    ['an endless answer is an unknown outcome', 'endless', { outcome: 'unknown' }],
  ])('is sent once when %s', async (_what, answer, submission) => {
    upstream.script(answer);

    expect(await open().submit(withMedia(FRAME), signal())).toMatchObject(submission);
    expect(upstream.requests).toHaveLength(1);
  });

  test('is an unknown outcome without an answer in time, or when it is aborted', async () => {
    upstream.script('hang', 'hang');
    const [clock, leaving] = [fakeClock(), new AbortController()];

    const late = open({ submitTimeoutMs: LONG_MS }, clock).submit(withMedia(FRAME), signal());
    await until(() => upstream.requests.length === 1);
    await clock.advance(LONG_MS);
    const left = open().submit(withMedia(FRAME), leaving.signal);
    await until(() => upstream.requests.length === 2);
    leaving.abort();

    expect(await Promise.all([late, left])).toMatchObject([{ outcome: 'unknown' }, { outcome: 'unknown' }]);
  });

  test.each(['http://127.0.0.1:1', 'http://upstream.invalid'])(
    'is the fault of the channel when nothing could be sent: %s',
    async (baseUrl) => {
      expect(await open({ baseUrl }).submit(withMedia(FRAME), signal())).toMatchObject({
        outcome: 'refused',
        fault: 'channel',
      });
    },
  );
});

test.each<[string, AttemptItem[]]>([
  ['a last frame', [{ ...FRAME, role: 'last_frame' }]],
  ['both frames', [FRAME, { ...FRAME, role: 'last_frame' }]],
  ['a reference', [{ ...FRAME, role: 'reference_image' }]],
  ['a video', [{ media: 'video', role: 'reference_video', url: 'https://media.example/a.mp4' }]],
])('an order with %s is refused without a call, because the API cannot express it', async (_what, media) => {
  upstream.script();

  expect(await open().submit(withMedia(...media), new AbortController().signal)).toMatchObject({
    outcome: 'refused',
    fault: 'unfit',
  });
  expect(upstream.requests).toHaveLength(0);
});

describe('a size', () => {
  const frames = ['16:9', '9:16', '1:1', '4:3', '3:4', '21:9', '9:21', '3:2', '2:3'].flatMap((ratio) =>
    ['480P', '720P', '768P', '1080P', '2K', '4K'].map((resolution) => ({ ratio, resolution })),
  );

  test.each(frames)('is the one size of the frame $ratio at $resolution', (frame) => {
    const size = formatSize(frame) ?? '';

    expect(findFrame(size)).toEqual(frame);
    expect(frames.filter((other) => formatSize(other) === size)).toEqual([frame]);
  });

  test.each(['', '0x0', '1280', '1280x', 'x720', '1280x720x3', '99999999x1', '1000x999'])(
    'that this adapter does not write has no frame: %j',
    (size) => {
      expect(findFrame(size)).toEqual({});
    },
  );

  test.each(['', 'HD', '768', '0P', '12345P', 'constructor', '__proto__'])(
    'does not exist for the resolution %j',
    (resolution) => {
      expect(formatSize({ ratio: '16:9', resolution })).toBeUndefined();
    },
  );
});
