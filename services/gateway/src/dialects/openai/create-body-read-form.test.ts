import { describe, expect, test } from '@jest/globals';
import { brief, refusalOf } from '../../../testing/order-summary.ts';
import type { Form } from '../dialect.ts';
import { decodeCreate } from './decode.ts';
import { readForm as readFormOf } from './create-body.ts';

const readForm = (given: Form) => readFormOf(given, ['model', 'prompt', 'input_reference']);
const form = (fields: Form['fields'], files: Form['files'] = []): Form => ({ fields, files });
const PNG = { name: 'input_reference', mediaType: 'image/png', chunks: [Buffer.from('png')] };
const named: Form['fields'] = [
  ['model', 'Alpha-H3'],
  ['prompt', 'a boat'],
];

test('text fields stay unchanged', () => {
  expect(readForm(form([...named, ['seconds', '5'], ['style', 'noir']])).fields).toEqual({
    model: 'Alpha-H3',
    prompt: 'a boat',
    seconds: '5',
    style: 'noir',
  });
});

describe('content', () => {
  test('as one JSON array', () => {
    expect(readForm(form([['content', '[{"type":"text","text":"a"}]']])).fields).toEqual({
      content: [{ type: 'text', text: 'a' }],
    });
  });
  test('flattened without indexes: a repeated key starts the next item', () => {
    expect(
      readForm(
        form([
          ['content[][type]', 'text'],
          ['content[][text]', 'a'],
          ['content[][type]', 'video_url'],
          ['content[][role]', 'base_video'],
          ['content[][video_url][url]', 'https://x.example/v'],
          ['content[][type]', 'video_url'],
          ['content[][video_url][url]', 'https://x.example/w'],
        ]),
      ).fields,
    ).toEqual({
      content: [
        { type: 'text', text: 'a' },
        { type: 'video_url', role: 'base_video', video_url: { url: 'https://x.example/v' } },
        { type: 'video_url', video_url: { url: 'https://x.example/w' } },
      ],
    });
  });
  test('flattened with indexes', () => {
    expect(
      readForm(
        form([
          ['content[1][text]', 'b'],
          ['content[0][type]', 'text'],
          ['content[1][type]', 'text'],
          ['content[0][text]', 'a'],
        ]),
      ).fields,
    ).toEqual({
      content: [
        { type: 'text', text: 'a' },
        { text: 'b', type: 'text' },
      ],
    });
  });
  test('a flattened base_video is not lost, so the form is a regeneration', () => {
    const { order } = decodeCreate(
      {
        form: form([
          ...named,
          ['content[][type]', 'video_url'],
          ['content[][role]', 'base_video'],
          ['content[][video_url][url]', 'https://x.example/v'],
        ]),
      },
      { models: new Map(), params: {} },
    );

    expect(brief(order)).toMatchObject({
      kind: 'regeneration',
      content: ['a boat', { video: 'https://x.example/v', role: 'base_video' }],
    });
  });
});

describe('the first frame', () => {
  test('as a file', () => {
    const decoded = decodeCreate({ form: form(named, [PNG]) }, { models: new Map(), params: {} });

    expect(brief(decoded.order)).toMatchObject({ content: ['a boat', { image: '(image/png)', role: 'first_frame' }] });
    expect(decoded.inline).toEqual([
      { item: 1, field: 'input_reference', declaredType: 'image/png', bytes: { chunks: PNG.chunks } },
    ]);
  });
  test('as a file without a declared type', () => {
    const decoded = decodeCreate(
      { form: form(named, [{ ...PNG, mediaType: 'application/octet-stream' }]) },
      { models: new Map(), params: {} },
    );

    expect(decoded.inline[0]?.declaredType).toBe('');
  });
  test.each(['input_reference', 'input_reference[image_url]', 'input_reference[image_url][url]'])(
    'as a URL in %s',
    (name) => {
      const { order } = decodeCreate(
        { form: form([...named, [name, 'https://x.example/i.png']]) },
        { models: new Map(), params: {} },
      );

      expect(brief(order)).toMatchObject({
        content: ['a boat', { image: 'https://x.example/i.png', role: 'first_frame' }],
      });
    },
  );
});

describe('a malformed form is refused', () => {
  test.each<[string, Form, string]>([
    [
      'a field twice',
      form([
        ['seconds', '5'],
        ['seconds', '6'],
      ]),
      'seconds',
    ],
    ['content that is not JSON', form([['content', 'boat']]), 'content'],
    [
      'content in two ways',
      form([
        ['content', '[]'],
        ['content[][type]', 'text'],
      ]),
      'content',
    ],
    [
      'flattened in two ways',
      form([
        ['content[][type]', 'text'],
        ['content[0][type]', 'text'],
      ]),
      'content',
    ],
    ['flattened deeper than any field', form([['content[][a][b][c]', 'x']]), 'content[][a][b][c]'],
    ['a file by its id', form([['input_reference[file_id]', 'file-1']]), 'input_reference[file_id]'],
    ['a file in another field', form([], [{ ...PNG, name: 'video' }]), 'video'],
    ['two files', form([], [PNG, PNG]), 'input_reference'],
    ['a file and a URL', form([['input_reference', 'https://x.example/i.png']], [PNG]), 'input_reference'],
  ])('%s', (_what, body, field) => {
    expect(refusalOf(() => readForm(body)).field).toBe(field);
  });
  test.each([
    ['video/mp4', [Buffer.from('x')]],
    ['image/png', []],
  ])('a file of %s with %j', (mediaType, chunks) => {
    expect(
      refusalOf(() =>
        decodeCreate(
          { form: form(named, [{ name: 'input_reference', mediaType, chunks }]) },
          { models: new Map(), params: {} },
        ),
      ),
    ).toMatchObject({ reason: 'invalid_media', field: 'input_reference' });
  });
});

test('a boolean is a word', () => {
  expect(readForm(form([['aigc_watermark', 'true']])).fields).toEqual({ aigc_watermark: true });
  expect(readForm(form([['aigc_watermark', 'constructor']])).fields).toEqual({ aigc_watermark: 'constructor' });
  expect(
    refusalOf(() =>
      decodeCreate({ form: form([...named, ['aigc_watermark', 'yes']]) }, { models: new Map(), params: {} }),
    ).field,
  ).toBe('aigc_watermark');
});
