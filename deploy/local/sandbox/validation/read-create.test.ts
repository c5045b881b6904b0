import { expect, test } from '@jest/globals';
import { aContextIr, aGeneration, aRegeneration, audio, image, mp3, png, text, video } from '../testing/bodies.ts';
import { readCreate } from './read-create.ts';

const imageFormats =
  'data of image_url must begin with data:image/FORMAT;base64, ' +
  'where FORMAT is one of jpg, jpeg, png, webp, heic, heif';

const times = <Item>(count: number, item: Item): Item[] => Array.from({ length: count }, () => item);

test.each<[string, object]>([
  ['text alone with a ratio', {}],
  ['any model', { model: 'someone-elses-model' }],
  ['480P', { resolution: '480P' }],
  ['2K', { resolution: '2K' }],
  ['the longest duration', { duration: 15 }],
  ['one image without a role', { content: [text(), image()], ratio: undefined }],
  ['a last frame alone', { content: [text(), image('last_frame')] }],
  ['both frames', { content: [text(), image('first_frame'), image('last_frame')] }],
  [
    'nine images beside three sounds',
    { content: [text(), ...times(9, image('reference_image')), ...times(3, audio('reference_audio'))] },
  ],
  ['references without a ratio', { content: [text(), video('reference_video')], ratio: undefined }],
  ['an upstream file', { content: [text(), image('first_frame', 'mm_file://12345')] }],
  ['a public address', { content: [text(), image('first_frame', 'https://example.com/a.png')] }],
  [
    'a watermark, extra and a callback',
    { aigc_watermark: true, extra: { prompt_expansion_mode: 'quality' }, callback_url: 'http://127.0.0.1:1/x' },
  ],
  ['7000 characters beyond the basic plane', { content: [text('🦊'.repeat(7000))] }],
])('a generation takes %s', (_name, change) => {
  expect(() => readCreate('generation', aGeneration(change))).not.toThrow();
});

test.each<[string, object, string]>([
  ['an unknown field', { seed: 1 }, 'unknown field "seed" in the body'],
  ['no model', { model: undefined }, 'model must be a non-empty string'],
  ['no content', { content: undefined }, 'content must be a non-empty array'],
  [
    'content without text',
    { content: [image('first_frame')] },
    'content must include a non-empty text item (prompt is required)',
  ],
  ['blank text', { content: [text(' \n')] }, 'content must include a non-empty text item (prompt is required)'],
  ['too long a text', { content: [text('x'.repeat(7001))] }, 'text must have at most 7000 characters'],
  [
    'an unknown item',
    { content: [text(), { type: 'file' }] },
    'type of a content item must be one of text, image_url, video_url, audio_url',
  ],
  ['a role on a text', { content: [{ ...text(), role: 'first_frame' }] }, 'unknown field "role" in a text item'],
  ['another resolution', { resolution: '1080P' }, 'resolution must be one of 480P, 768P, 2K'],
  ['a resolution in small letters', { resolution: '2k' }, 'resolution must be one of 480P, 768P, 2K'],
  ['too short a duration', { duration: 3 }, 'duration must be an integer from 4 to 15'],
  ['a duration in words', { duration: '5' }, 'duration must be an integer from 4 to 15'],
  ['half a second', { duration: 4.5 }, 'duration must be an integer from 4 to 15'],
  [
    'text alone without a ratio',
    { ratio: undefined },
    'ratio is required and cannot be adaptive when content is text only',
  ],
  [
    'text alone with an adaptive ratio',
    { ratio: 'adaptive' },
    'ratio is required and cannot be adaptive when content is text only',
  ],
  [
    'an unknown ratio beside a frame',
    { content: [text(), image()], ratio: '2:1' },
    'ratio must be one of adaptive, 21:9, 16:9, 4:3, 1:1, 3:4, 9:16',
  ],
  [
    'two images without roles',
    { content: [text(), image(), image()] },
    'role is required when there are several images',
  ],
  ['a video without a role', { content: [text(), video()] }, 'role is required for video_url'],
  ['a base video', { content: [text(), video('base_video')] }, 'role must be one of reference_video'],
  [
    'two first frames',
    { content: [text(), image('first_frame'), image('first_frame')] },
    'content must have at most 1 of role first_frame',
  ],
  [
    'ten references',
    { content: [text(), ...times(10, image('reference_image'))] },
    'content must have at most 9 of role reference_image',
  ],
  [
    'four videos',
    { content: [text(), ...times(4, video('reference_video'))] },
    'content must have at most 3 of role reference_video',
  ],
  [
    'thirteen media',
    {
      content: [
        text(),
        ...times(9, image('reference_image')),
        ...times(3, video('reference_video')),
        audio('reference_audio'),
      ],
    },
    'content must have at most 12 media items',
  ],
  [
    'a frame beside a reference',
    { content: [text(), image('first_frame'), image('reference_image')] },
    'first_frame and last_frame cannot be combined with references',
  ],
  [
    'sound alone',
    { content: [text(), audio('reference_audio')] },
    'reference_audio needs a reference_image or reference_video in addition',
  ],
  [
    'an asset',
    { content: [text(), image('first_frame', 'asset://1')] },
    'image_url must be http(s)://, mm_file:// or data:image/',
  ],
  ['data in capital letters', { content: [text(), image('first_frame', png.replace('png', 'PNG'))] }, imageFormats],
  ['sound in an image', { content: [text(), image('first_frame', mp3)] }, imageFormats],
  [
    'data that is not base64',
    { content: [text(), image('first_frame', 'data:image/png;base64,!')] },
    'data of image_url is not base64',
  ],
  [
    'too large an image',
    { content: [text(), image('first_frame', `data:image/png;base64,${'A'.repeat(42_000_000)}`)] },
    'image must have at most 31457280 bytes',
  ],
  ['a watermark in words', { aigc_watermark: 'yes' }, 'aigc_watermark must be true or false'],
  ['an unknown extra', { extra: { seed: 1 } }, 'unknown field "seed" in extra'],
  ['a callback that is no web address', { callback_url: 'ftp://example.com' }, 'callback_url must be http(s)://'],
])('a generation refuses %s', (_name, change, detail) => {
  expect(() => readCreate('generation', JSON.parse(JSON.stringify(aGeneration(change))))).toThrow(
    `invalid params, ${detail} (2013)`,
  );
});

test.each<[string, object]>([
  ['a source', { source_task_id: '424010985738629' }],
  ['a base video with its text', { content: [text(), video('base_video')] }],
  ['a base video with its inputs', { content: [text(), video('base_video'), image('first_frame')] }],
  ['a text of 40 000 characters', { content: [text('x'.repeat(40_000)), video('base_video')] }],
])('a regeneration takes %s', (_name, change) => {
  expect(() => readCreate('regeneration', aRegeneration(change))).not.toThrow();
});

test.each<[string, object, string]>([
  ['neither mode', {}, 'exactly one of source_task_id and content is required'],
  [
    'both modes',
    { source_task_id: '1', content: [text(), video('base_video')] },
    'exactly one of source_task_id and content is required',
  ],
  ['another resolution', { source_task_id: '1', resolution: '768P' }, 'resolution must be one of 2K'],
  ['a duration', { source_task_id: '1', duration: 5 }, 'unknown field "duration" in the body'],
  [
    'content without a base video',
    { content: [text(), image('first_frame')] },
    'content must include exactly one video_url of role base_video',
  ],
  [
    'two base videos',
    { content: [text(), video('base_video'), video('base_video')] },
    'content must have at most 1 of role base_video',
  ],
  [
    'a base video without text',
    { content: [video('base_video')] },
    'content must include a non-empty text item (prompt is required)',
  ],
  [
    'too long a text',
    { content: [text('x'.repeat(40_001)), video('base_video')] },
    'text must have at most 40000 characters',
  ],
])('a regeneration refuses %s', (_name, change, detail) => {
  expect(() => readCreate('regeneration', aRegeneration(change))).toThrow(`invalid params, ${detail} (2013)`);
});

test('a context-IR takes what a generation takes, without a resolution', () => {
  expect(() =>
    readCreate('h3_context_ir', aContextIr({ content: [text(), image('reference_image')], ratio: undefined })),
  ).not.toThrow();
});

test.each<[string, object, string]>([
  ['a resolution', { resolution: '2K' }, 'unknown field "resolution" in the body'],
  ['a watermark', { aigc_watermark: true }, 'unknown field "aigc_watermark" in the body'],
  ['no duration', { duration: undefined }, 'duration must be an integer from 4 to 15'],
])('a context-IR refuses %s', (_name, change, detail) => {
  expect(() => readCreate('h3_context_ir', JSON.parse(JSON.stringify(aContextIr(change))))).toThrow(
    `invalid params, ${detail} (2013)`,
  );
});
