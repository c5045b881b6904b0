import { describe, expect, test } from '@jest/globals';
import type { Attempt, AttemptItem, ListedWork, UpstreamAnswer } from './adapter.ts';
import {
  classifyError,
  CUT_TEXT,
  findError,
  findUnfit,
  hasText,
  joinTexts,
  listPages,
  parseDataUrl,
  readCount,
  readId,
  readIsoTime,
  readObject,
  readPercent,
  readReport,
  readSecondsAsMs,
  readText,
  readWebUrl,
  sortMedia,
  toMicroUsd,
  toPrompt,
  toSubmission,
  toUsage,
} from './kit.ts';
import type { ErrorClass, ErrorTable, ModelRow } from './kit.ts';

const LOST_DIGITS = 42401098573862912345;

describe('the error of an answer is', () => {
  test.each<[string, unknown, unknown]>([
    ['a text', 'no face', { message: 'no face' }],
    ['the text of an error', { error: 'no face' }, { message: 'no face' }],
    ['the message of an error', { error: { message: 'no face', code: 'x' } }, { message: 'no face', code: 'x' }],
    ['a reason with its code', { fail_reason: 'no face', error_code: 7 }, { message: 'no face', code: '7' }],
    ['a reason of a task', { code: 'success', data: { fail_reason: 'no face' } }, { message: 'no face' }],
    ['a reason before a message', { message: 'see below', task: { err_msg: 'no face' } }, { message: 'no face' }],
    ['the first of a list with words', { errors: [{}, { msg: 'no face' }] }, { message: 'no face' }],
    ['a message beside a code', { code: 'x', message: 'no face' }, { message: 'no face', code: 'x' }],
    ['none in words of success', { error: null, message: 'success', msg: 'OK', reason: ' ' }, undefined],
    ['none in an address', { output: 'https://a.example/1.mp4' }, undefined],
    ['none in numbers', { error: 1, code: 2 }, undefined],
    ['none in nothing', null, undefined],
  ])('%s', (_what, value, expected) => {
    expect(findError(value)).toEqual(expected);
  });

  test('looked for to a depth', () => {
    const nest = (levels: number): object => (levels === 0 ? { error: 'no face' } : { data: nest(levels - 1) });

    expect(findError(nest(3))).toEqual({ message: 'no face' });
    expect(findError(nest(100))).toBeUndefined();
  });
});

describe('a value of an upstream is read as', () => {
  test.each<[string, (value: unknown) => unknown, unknown, unknown]>([
    ['an object', readObject, { a: 1 }, { a: 1 }],
    ['an empty object for a list', readObject, [1], {}],
    ['an empty object for nothing', readObject, null, {}],
    ['a text', readText, 'a', 'a'],
    ['nothing for an empty text', readText, '', undefined],
    ['nothing for a number instead of a text', readText, 7, undefined],
    ['nothing for a text that was cut', readText, CUT_TEXT, undefined],
    ['no id for a text that was cut', readId, CUT_TEXT, undefined],
    ['the presence of a text', hasText, 'a', true],
    ['the presence of a text that was cut', hasText, CUT_TEXT, true],
    ['the absence of a text for an empty one', hasText, '', false],
    ['the absence of a text for null', hasText, null, false],
    ['an id', readId, 'work-1', 'work-1'],
    ['an id for a whole number', readId, 424010985738629, '424010985738629'],
    ['no id for a number whose digits may be lost', readId, LOST_DIGITS, undefined],
    ['no id for a fraction', readId, 1.5, undefined],
    ['a count', readCount, 0, 0],
    ['no count for a negative number', readCount, -1, undefined],
    ['no count for a text', readCount, '7', undefined],
    ['milliseconds for seconds', readSecondsAsMs, 1785125529, 1785125529000],
    ['no time for zero seconds', readSecondsAsMs, 0, undefined],
    ['a time with an offset', readIsoTime, '2026-11-24T10:00:00+08:00', Date.UTC(2026, 10, 24, 2)],
    ['no time without an offset', readIsoTime, '2026-11-24 10:00:00', undefined],
    ['no time for another text', readIsoTime, 'soonZ', undefined],
    ['a percent', readPercent, 40, 40],
    ['a percent from a text', readPercent, '40%', 40],
    ['no percent for 100, which only finished work has', readPercent, 100, undefined],
    ['no percent for a fraction', readPercent, 0.4, undefined],
    ['a web address', readWebUrl, 'HTTPS://a.example/1', 'HTTPS://a.example/1'],
    ['no web address for another scheme', readWebUrl, 'file:///etc/passwd', undefined],
    ['millionths of a dollar', toMicroUsd, 0.4, 400_000],
    ['millionths of a decimal text', toMicroUsd, '0.0825', 82_500],
    ['no amount for a negative one', toMicroUsd, -1, undefined],
    ['no amount for another notation', toMicroUsd, '1e3', undefined],
    ['no amount that is too large to be exact', toMicroUsd, 1e300, undefined],
  ])('%s', (_what, read, value, expected) => {
    expect(read(value)).toEqual(expected);
  });

  test('an amount of ticks', () => {
    expect(toMicroUsd(3_000_000_000, 10_000_000_000)).toBe(300_000);
  });

  test('a usage only if one of its members is known', () => {
    expect([toUsage({ totalTokens: undefined }), toUsage({ totalTokens: 7 })]).toEqual([undefined, { totalTokens: 7 }]);
  });

  test('the type and the text of a data URL', () => {
    expect(parseDataUrl('data:image/png;base64,iVBO')).toEqual({ type: 'image/png', base64: 'iVBO' });
    expect(parseDataUrl('https://a.example/data:image/png;base64,iVBO')).toBeUndefined();
  });

  test('no end for a status word that the table does not know', () => {
    expect(readReport({ done: (_work, status) => ({ phase: 'succeeded', status }) }, {}, 'constructor')).toEqual({
      phase: 'unrecognised',
      status: 'constructor',
    });
  });
});

describe('a refusal', () => {
  const TABLE: ErrorTable = {
    codes: { flagged: 'content', constructed: 'order' },
    patterns: [
      [/^Quota/, 'throttle'],
      [/enough credits/, 'credential', 'message'],
    ],
    statuses: { 502: 'channel' },
  };
  const said = (code: string, message = 'no') => ({ code, message });

  test.each<[string, ErrorTable, number, ReturnType<typeof said> | undefined, ErrorClass]>([
    ['by its code, whatever its status', TABLE, 500, said('flagged'), 'content'],
    ['by a part of its code', TABLE, 400, said('QuotaExceeded'), 'throttle'],
    ['by its message where nothing else tells', TABLE, 400, said('', 'not enough credits'), 'credential'],
    ['by the status of the table', TABLE, 502, said('odd'), 'channel'],
    ['by the class of every other error', { otherwise: 'channel' }, 500, said('odd'), 'channel'],
    ['not by a name of every object', TABLE, 400, said('toString'), 'order'],
    ['as unknown with 500', {}, 500, said('odd'), 'unknown'],
    ['as unknown with 408', {}, 408, undefined, 'unknown'],
    ['as unknown with 502', {}, 502, undefined, 'unknown'],
    ['as the fault of the order with 422', {}, 422, undefined, 'order'],
    ['as the fault of the key with 401', {}, 401, undefined, 'credential'],
    ['as a throttle with 429', {}, 429, undefined, 'throttle'],
    ['as the fault of the channel with any other 4xx', {}, 404, undefined, 'channel'],
    ['as the fault of the channel with 503', {}, 503, undefined, 'channel'],
    ['as unknown inside a success', {}, 200, said('odd'), 'unknown'],
    ['as the table says inside a success', { inSuccess: 'channel' }, 200, said('odd'), 'channel'],
    ['as unknown in a success without an error', { inSuccess: 'channel' }, 200, undefined, 'unknown'],
  ])('is classified %s', (_what, table, status, error, expected) => {
    expect(classifyError(table, status, error)).toBe(expected);
  });

  const answer: UpstreamAnswer = { status: 200, body: undefined, headers: {}, retryAfterMs: 7000 };

  test('beside an id is no acceptance', () => {
    const reading = { upstreamId: 'work-1', error: said('flagged'), table: TABLE };

    expect(toSubmission(answer, reading)).toMatchObject({ outcome: 'refused', fault: 'content', retryAfterMs: 7000 });
  });

  test('is none in a success with an id', () => {
    expect(toSubmission(answer, { upstreamId: 'work-1', error: undefined, table: TABLE })).toEqual({
      outcome: 'accepted',
      upstreamId: 'work-1',
    });
  });
});

describe('an order is unfit for a model that', () => {
  const frame = (role: 'first_frame' | 'last_frame' | 'reference_image'): AttemptItem => ({
    media: 'image',
    role,
    url: 'https://a.example/1.png',
  });
  const order = (changes: Partial<Attempt> = {}, ...media: readonly AttemptItem[]): Attempt => ({
    key: 'task_1-1',
    kind: 'generation',
    model: 'm',
    content: [{ text: 'a fox' }, ...media],
    duration: 5,
    resolution: '720P',
    ratio: '16:9',
    ...changes,
  });
  const BOTH: ModelRow = { frames: 'first and last', images: 2 };

  test.each<[string, ModelRow, Attempt, RegExp | undefined]>([
    ['does not limit it: none', {}, order(), undefined],
    ['makes other lengths', { seconds: [4, 6] }, order(), /5 seconds/],
    ['makes shorter videos', { seconds: { least: 1, most: 4 } }, order(), /5 seconds/],
    ['makes that length: none', { seconds: { least: 1, most: 5 } }, order(), undefined],
    ['makes other resolutions', { resolutions: ['1080p'] }, order(), /720P/],
    ['names the resolution in the other case: none', { resolutions: ['720p'] }, order(), undefined],
    ['makes other ratios', { ratios: ['1:1'] }, order(), /16:9/],
    ['leaves the ratio to it: none', { ratios: ['1:1'] }, order({ ratio: 'adaptive' }), undefined],
    ['takes no frames', {}, order({}, frame('first_frame')), /no frames/],
    ['takes no last frame', { frames: 'first' }, order({}, frame('first_frame'), frame('last_frame')), /no last frame/],
    ['needs the first frame beside the last', BOTH, order({}, frame('last_frame')), /without a first/],
    ['needs a frame', { needsFrame: true }, order(), /needs a first frame/],
    ['takes fewer references', { images: 0 }, order({}, frame('reference_image')), /at most 0 reference images/],
    ['takes frames or references', BOTH, order({}, frame('first_frame'), frame('reference_image')), /not both/],
    [
      'takes both together: none',
      { ...BOTH, mixes: true },
      order({}, frame('first_frame'), frame('reference_image')),
      undefined,
    ],
    [
      'lets the frame decide over the ratio: none',
      { frames: 'first', ratios: ['1:1'], ratioFollowsFrame: true },
      order({}, frame('first_frame')),
      undefined,
    ],
    ['takes a shorter text', { promptMax: 4 }, order(), /4 characters/],
    ['counts characters, not units: none', { promptMax: 1 }, order({ content: [{ text: '🦊' }] }), undefined],
  ])('%s', (_what, row, attempt, reason) => {
    const unfit = findUnfit(row, attempt);

    if (reason === undefined) expect(unfit).toBeUndefined();
    else expect(unfit).toMatch(reason);
  });

  test('has its media by their use', () => {
    const { content } = order({}, frame('last_frame'), frame('first_frame'), frame('reference_image'));

    expect(sortMedia(content)).toMatchObject({ first: 'https://a.example/1.png', images: ['https://a.example/1.png'] });
  });
});

describe('an order', () => {
  const image: AttemptItem = { media: 'image', role: 'last_frame', url: 'https://a.example/1.png' };

  test('of texts alone has no media', () => {
    expect(sortMedia([{ text: 'a' }])).toEqual({ images: [], videos: [], audios: [] });
  });

  test.each<[string, readonly AttemptItem[], string | undefined]>([
    ['the lines of its texts, among its media', [{ text: 'a' }, image, { text: 'b' }], 'a\nb'],
    ['an empty line for an empty text', [{ text: '' }, { text: 'b' }], '\nb'],
    ['none for an empty text alone', [{ text: '' }], undefined],
    ['none without a text', [image], undefined],
  ])('has as its prompt %s', (_what, content, prompt) => {
    expect(toPrompt(content)).toBe(prompt);
    expect(joinTexts(content)).toBe(prompt ?? '');
  });
});

describe('the pages of a list', () => {
  const toWork = (item: unknown): ListedWork => ({
    upstreamId: String(item),
    kind: 'generation',
    model: 'm',
    duration: 5,
    resolution: undefined,
    ratio: undefined,
    createdAt: Number(item),
  });
  const read = (pages: readonly object[], since = 0): readonly [unknown, number] => {
    const steps = listPages(since, {
      build: ({ number, after }) => ({ method: 'GET', path: `/?page=${number}&after=${after}` }),
      read: (body) => ({ items: body['items'], total: body['total'], after: body['after'] as string | undefined }),
      toWork,
    });
    let [step, made] = [steps.next(), 0];
    for (; step.done !== true && made < 100; made += 1)
      step = steps.next({ status: 200, body: pages[made] ?? { items: [99] }, headers: {}, retryAfterMs: undefined });
    return [step.done === true ? step.value?.map(({ upstreamId }) => upstreamId) : 'unfinished', made];
  };

  test.each<[string, readonly object[], number, readonly [unknown, number]]>([
    ['end with an empty page', [{ items: [3, 2] }, { items: [] }], 0, [['3', '2'], 2]],
    [
      'end with the total',
      [
        { items: [3, 2], total: 3 },
        { items: [1], total: 3 },
      ],
      0,
      [['3', '2', '1'], 2],
    ],
    [
      'end where the answer names no next one',
      [
        { items: [3], after: 'a' },
        { items: [2], after: '' },
      ],
      0,
      [['3', '2'], 2],
    ],
    ['end with older work, which is left out', [{ items: [30, 20, 5] }], 10, [['30', '20'], 1]],
    ['are unreadable if one is', [{ items: [3] }, { error: 'x' }], 0, [undefined, 2]],
    ['are unreadable without an end', [], 0, [undefined, 25]],
  ])('%s', (_what, pages, since, expected) => {
    expect(read(pages, since)).toEqual(expected);
  });
});
