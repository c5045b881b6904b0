import { refused, refusedV2 } from '../engine/refused.ts';
import type { Code } from '../engine/refused.ts';
import { post, table } from '../engine/row.ts';
import type { Expectation, Request, Row } from '../engine/row.ts';
import {
  ASTRAL,
  CONTEXT_IR,
  GENERATION,
  V1,
  compatContent,
  contextIr,
  generation,
  image,
  several,
  sound,
  text,
  video,
} from './bodies.ts';

/** The address in a refused request, which is never fetched. */
const NAMED = '{{media}}/refused.png';
const img = (role?: string): object => image(role, NAMED);
const vid = (role?: string): object => video(role, NAMED);
const aud = (role?: string): object => sound(role, NAMED);

/** Faults of a content array that every create refuses. */
const WRONG: readonly (readonly [what: string, content: unknown, code: Code, field: string])[] = [
  ['an item that is not object', ['a red boat'], 'invalid_content', 'content[0]'],
  ['an item without a type', [{ text: 'x' }], 'invalid_content', 'content[0].type'],
  [
    'an item of an unknown type',
    [text(), { type: 'image', image_url: { url: NAMED } }],
    'invalid_content',
    'content[1].type',
  ],
  ['a text item without its text', [{ type: 'text' }], 'invalid_content', 'content[0].text'],
  ['a text that is not a string', [{ type: 'text', text: 7 }], 'invalid_content', 'content[0].text'],
  ['a text item with a role', [{ type: 'text', text: 'x', role: 'first_frame' }], 'unknown_field', 'content[0].role'],
  ['a field of no item', [{ ...text(), weight: 1 }], 'unknown_field', 'content[0].weight'],
  [
    'an item with the address of another type',
    [text(), { type: 'image_url', video_url: { url: NAMED } }],
    'invalid_content',
    'content[1].image_url',
  ],
  [
    'an image without an address',
    [text(), { type: 'image_url', role: 'first_frame' }],
    'invalid_content',
    'content[1].image_url',
  ],
  [
    'an image whose address is a text',
    [text(), { type: 'image_url', image_url: NAMED }],
    'invalid_content',
    'content[1].image_url',
  ],
  ['an image with an empty address', [text(), image('first_frame', '')], 'invalid_content', 'content[1].image_url.url'],
  ['a role of no kind', [text(), img('middle_frame')], 'invalid_content', 'content[1].role'],
  ['an image as a reference video', [text(), img('reference_video')], 'invalid_content', 'content[1].role'],
  ['a video as a first frame', [text(), vid('first_frame')], 'invalid_content', 'content[1].role'],
  ['a sound as a reference image', [text(), aud('reference_image')], 'invalid_content', 'content[1].role'],
  ['a video without a role', [text(), vid()], 'invalid_content', 'content[1].role'],
  ['a sound without a role', [text(), aud()], 'invalid_content', 'content[1].role'],
  ['two images without roles', [text(), img(), img()], 'invalid_content', 'content[1].role'],
  ['one image of two without a role', [text(), img('first_frame'), img()], 'invalid_content', 'content[2].role'],
  ['no text', [img('first_frame')], 'invalid_content', 'content'],
  ['two first frames', [text(), img('first_frame'), img('first_frame')], 'invalid_content', 'content'],
  ['two last frames', [text(), img('last_frame'), img('last_frame')], 'invalid_content', 'content'],
  ['ten reference images', [text(), ...several(10, img('reference_image'))], 'invalid_content', 'content'],
  ['four reference videos', [text(), ...several(4, vid('reference_video'))], 'invalid_content', 'content'],
  [
    'four reference sounds',
    [text(), img('reference_image'), ...several(4, aud('reference_audio'))],
    'invalid_content',
    'content',
  ],
  [
    'thirteen media',
    [text(), ...several(9, img('reference_image')), ...several(3, vid('reference_video')), aud('reference_audio')],
    'invalid_content',
    'content',
  ],
  [
    'a first frame beside a reference image',
    [text(), img('first_frame'), img('reference_image')],
    'invalid_content',
    'content',
  ],
  [
    'a last frame beside a reference video',
    [text(), img('last_frame'), vid('reference_video')],
    'invalid_content',
    'content',
  ],
  ['a sound as the only reference', [text(), aud('reference_audio')], 'invalid_content', 'content'],
  ['a text of 7001 code points', [text('x'.repeat(7001))], 'invalid_content', 'content[0].text'],
  [
    'a text of 7001 code points that are two units each',
    [text(), text(ASTRAL.repeat(7001))],
    'invalid_content',
    'content[1].text',
  ],
  [
    'a data URL of another family',
    [text(), image('first_frame', 'data:video/mp4;base64,AAAA')],
    'invalid_media',
    'content[1].image_url.url',
  ],
  [
    'a data URL without base64',
    [text(), image('first_frame', 'data:image/png,abc')],
    'invalid_media',
    'content[1].image_url.url',
  ],
];
/** `/v1/videos` reads these as a missing prompt or as a regeneration, so it has rows of its own for them. */
const OFFICIAL_ONLY: readonly (readonly [what: string, content: unknown, code: Code, field: string])[] = [
  ['content that is not list', 'a red boat', 'invalid_content', 'content'],
  ['no items', [], 'invalid_content', 'content'],
  ['an empty text', [text('')], 'invalid_content', 'content'],
  ['a text of white space', [text(' \n\t\u3000')], 'invalid_content', 'content'],
  ['a base video', [text(), vid('base_video')], 'invalid_content', 'content[1].role'],
  ['more than a hundred items', several(101, text()), 'invalid_content', 'content'],
];

type Wrong = (typeof WRONG)[number];
const rowsOf = (
  section: string,
  wrong: readonly Wrong[],
  send: (content: unknown) => Request,
  expect: (code: Code, field: string) => Expectation,
): readonly Row[] =>
  table(
    section,
    wrong.map(([what, content, code, field]) => [
      `refuses ${what}`,
      { ...send(content), as: 'refusals' },
      expect(code, field),
    ]),
  );

export const contentItemRows: readonly Row[] = [
  ...rowsOf(
    'Content of an official generation',
    [...WRONG, ...OFFICIAL_ONLY],
    (content) => post(GENERATION, generation({ content })),
    refusedV2,
  ),
  ...rowsOf(
    'Content of a context-IR task',
    [...WRONG, ...OFFICIAL_ONLY],
    (content) => post(CONTEXT_IR, contextIr({ content })),
    refusedV2,
  ),
  ...rowsOf(
    'Content of a compatibility create',
    WRONG.filter(([what]) => what !== 'no text'),
    (content) => post(V1, compatContent(content as readonly object[])),
    refused,
  ),
];
