import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { startGatewayUnderTest } from '../../../testing/gateway-under-test.ts';
import type { GatewayUnderTest } from '../../../testing/gateway-under-test.ts';
import { call } from '../../../testing/http-call.ts';

const URL = 'https://x.example/m';
const text = { type: 'text', text: 'a boat' };
const base = { type: 'video_url', role: 'base_video', video_url: { url: URL } };
const DATA = { type: 'image_url', role: 'reference_image', image_url: { url: 'data:image/png;base64,AAAA' } };
const compat = { model: 'Alpha-H3', prompt: 'a boat', seconds: '5', size: '1280x720' };
const openrouter = { model: 'Alpha-H3', prompt: 'a boat' };
const generation = { model: 'Alpha-H3', content: [text], duration: 5, resolution: '768P', ratio: '16:9' };
const regeneration = { model: 'Alpha-H3', resolution: '2K', content: [text, base] };
const contextIr = { model: 'Alpha-H3', content: [text], duration: 5, ratio: '16:9' };
const REMIX = '/v1/videos/task_00000000000000000000000000/remix';

let under: GatewayUnderTest;
beforeAll(async () => {
  under = await startGatewayUnderTest();
});
afterAll(() => under.stop());
beforeEach(() => {
  under.tasks.calls.length = 0;
  under.media.puts.length = 0;
});

/** The rows of the error tables that the gateway itself refuses. */
const ROWS: readonly (readonly [what: string, path: string, body: unknown])[] = [
  [
    'source_task_id and a base_video item both present',
    '/v1/videos',
    { model: 'Alpha-H3', source_task_id: 'task_1', content: [text, base] },
  ],
  ['more than one base_video item', '/v1/videos', { model: 'Alpha-H3', content: [text, base, base] }],
  [
    'an empty base_video item',
    '/v1/videos',
    { model: 'Alpha-H3', content: [text, { ...base, video_url: { url: '' } }] },
  ],
  [
    'explicit action contradicts the body: generation',
    '/v1/videos',
    { model: 'Alpha-H3', action: 'generation', source_task_id: 'task_1' },
  ],
  ['explicit action contradicts the body: regeneration', '/v1/videos', { ...compat, action: 'regeneration' }],
  ['an unknown action', '/v1/videos', { ...compat, action: 'upscale' }],
  ['a body that is not JSON', '/v1/videos', '{"model":'],
  ['no body', '/v1/videos', ''],
  ['a body that is not an object', '/v1/videos', '[]'],
  ['invalid seconds beside bytes', '/v1/videos', { ...compat, seconds: 'five', content: [DATA] }],
  ['an invalid size', '/v1/videos', { ...compat, size: 'huge' }],
  [
    'an invalid data URL',
    '/v1/videos',
    { ...compat, content: [{ ...DATA, image_url: { url: 'data:image/png,AAAA' } }] },
  ],
  ['task_id sent by the client', '/v2/h3_context_ir', { ...contextIr, task_id: 'task_1' }],
  ['task type sent by the client', '/v2/h3_context_ir', { ...contextIr, task_type: 'h3_context_ir' }],
  ...['resolution', 'aigc_watermark', 'prompt', 'action', 'source_task_id', 'metadata', 'seconds', 'size', 'foo'].map(
    (field) => [`${field} on context-IR`, '/v2/h3_context_ir', { ...contextIr, [field]: 'x' }] as const,
  ),
  ['a body that is not JSON on context-IR', '/v2/h3_context_ir', 'hello'],
  ['a missing model on context-IR', '/v2/h3_context_ir', { ...contextIr, model: undefined }],
  ['a missing content on context-IR', '/v2/h3_context_ir', { ...contextIr, content: undefined }],
  ['a duration that is not an integer on context-IR', '/v2/h3_context_ir', { ...contextIr, duration: 4.5 }],
  ['a duration that is a string on context-IR', '/v2/h3_context_ir', { ...contextIr, duration: '5' }],
  ['a top-level prompt on generation', '/v2/video_generation', { ...generation, prompt: 'x' }],
  ...['seconds', 'size', 'source_task_id', 'action', 'metadata', 'callback_url', 'aigc_watermark'].map(
    (field) => [`${field} on generation`, '/v2/video_generation', { ...generation, [field]: 'x' }] as const,
  ),
  [
    'the shape of a regeneration on generation',
    '/v2/video_generation',
    { model: 'Alpha-H3', resolution: '2K', source_task_id: 'task_1' },
  ],
  ['resolution missing on regeneration', '/v2/video_regeneration', { ...regeneration, resolution: undefined }],
  ['model missing on regeneration', '/v2/video_regeneration', { ...regeneration, model: undefined }],
  ...['prompt', 'duration', 'ratio', 'seconds', 'size', 'action', 'metadata', 'callback_url'].map(
    (field) => [`${field} on regeneration`, '/v2/video_regeneration', { ...regeneration, [field]: 'x' }] as const,
  ),
  ["the SDK's own remix", REMIX, { prompt: 'x' }],
  ['a remix with content', REMIX, { model: 'Alpha-H3', resolution: '2K', content: [] }],
  ['a remix without a model', REMIX, { resolution: '2K' }],
  ['two videos', '/v1/video/generations', { ...compat, n: 2 }],
  ['no text', '/v1/video/generations', { model: 'Alpha-H3' }],
  ['a callback of OpenRouter', '/api/v1/videos', { ...openrouter, callback_url: URL }],
  ['options of a provider', '/api/v1/videos', { ...openrouter, provider: { options: { runway: { a: 1 } } } }],
  [
    'a frame without its place',
    '/api/v1/videos',
    { ...openrouter, frame_images: [{ type: 'image_url', image_url: { url: URL } }] },
  ],
  ['an estimate of an invalid create', '/v1/videos/estimate', { ...compat, seconds: 'five' }],
  ['an estimate for a path that is not a create', '/v1/videos/estimate?path=/v1/chat/completions', compat],
];

describe('a refused body reaches no service', () => {
  test.each(ROWS)('%s (%s)', async (_what, path, body) => {
    const answer = await call(under.url, 'POST', path, { body });

    expect(answer.status).toBe(400);
    expect(typeof answer.json.error.message).toBe('string');
    expect(under.tasks.calls).toEqual([]);
    expect(under.media.puts).toEqual([]);
  });

  test.each([
    [
      'an unsupported media type',
      { body: 'a=b', headers: { 'content-type': 'application/x-www-form-urlencoded' } },
      415,
    ],
    [
      'a form on a route that takes only JSON',
      { body: '--x--', headers: { 'content-type': 'multipart/form-data; boundary=x' } },
      415,
    ],
    ['a body with an unknown encoding', { body: generation, headers: { 'content-encoding': 'compress' } }, 415],
    ['a body with two encodings', { body: generation, headers: { 'content-encoding': 'gzip, gzip' } }, 415],
    ['a body that is not packed as it says', { body: generation, headers: { 'content-encoding': 'gzip' } }, 400],
    ['an idempotency key that is too long', { body: generation, headers: { 'idempotency-key': 'x'.repeat(256) } }, 400],
    ['an idempotency key with a space', { body: generation, headers: { 'idempotency-key': 'a b' } }, 400],
    ['no token', { body: '{not json', token: null }, 401],
  ])('%s', async (_what, options, status) => {
    const answer = await call(under.url, 'POST', '/v2/video_generation', options);

    expect(answer.status).toBe(status);
    expect(answer.json).toMatchObject({ type: 'error', error: { http_code: String(status) } });
    expect(under.tasks.calls).toEqual([]);
  });
});
