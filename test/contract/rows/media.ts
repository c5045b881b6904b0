import { refused, refusedV2 } from '../engine/refused.ts';
import { get, post, sequence, step, table, until } from '../engine/row.ts';
import type { Row } from '../engine/row.ts';
import { dataUrl, fixture } from '../world/media-origin.ts';
import {
  CONTEXT_IR,
  GENERATION,
  GENERATIONS,
  QUERY,
  REGENERATION,
  V1,
  byVideo,
  compat,
  compatContent,
  contextIr,
  generation,
  generations,
  image,
  several,
  sound,
  text,
  video,
} from './bodies.ts';

const SECTION = 'Media';
const OWN = { needs: ['own program'] } as const;
const withMedia = (...media: readonly object[]): object =>
  generation({ content: [text(), ...media], ratio: undefined });

const taken = (name: string, path: string, body: object, order: object = {}): Row =>
  sequence(
    SECTION,
    `takes ${name}`,
    [
      step(post(path, body), { status: 200 }, { task: 'task_id' }),
      step(get(`${QUERY}/{{task}}`), { status: 200, body: { task: order } }),
    ],
    OWN,
  );

const modes: readonly Row[] = [
  taken('a single image without a role', GENERATION, withMedia(image()), { ratio: 'adaptive' }),
  taken('a first frame', GENERATION, withMedia(image('first_frame')), { ratio: 'adaptive' }),
  taken('a last frame alone', GENERATION, withMedia(image('last_frame'))),
  taken(
    'a first and a last frame',
    GENERATION,
    withMedia(image('first_frame'), image('last_frame', '{{media}}/image.jpg')),
  ),
  taken(
    'a frame with a ratio, which is ignored',
    GENERATION,
    generation({ content: [text(), image('first_frame')], ratio: '9:16' }),
  ),
  taken(
    'a reference image with a ratio',
    GENERATION,
    generation({ content: [text(), image('reference_image')], ratio: '9:16' }),
    { ratio: '9:16' },
  ),
  taken(
    'media with the ratio adaptive',
    GENERATION,
    generation({ content: [text(), image('reference_image')], ratio: 'adaptive' }),
  ),
  taken('nine reference images', GENERATION, withMedia(...several(9, image('reference_image')))),
  taken('a reference video', GENERATION, withMedia(video('reference_video'))),
  taken('a sound beside a reference image', GENERATION, withMedia(image('reference_image'), sound('reference_audio'))),
  taken(
    'context-IR of a first frame without a ratio',
    CONTEXT_IR,
    contextIr({ content: [text(), image('first_frame')], ratio: undefined }),
    { task_type: 'h3_context_ir' },
  ),
  taken(
    'context-IR of a last frame without a ratio',
    CONTEXT_IR,
    contextIr({ content: [text(), image('last_frame')], ratio: undefined }),
  ),
  taken(
    'context-IR of both frames without a ratio',
    CONTEXT_IR,
    contextIr({ content: [text(), image('first_frame'), image('last_frame')], ratio: undefined }),
  ),
  taken(
    'context-IR of references with the ratio adaptive',
    CONTEXT_IR,
    contextIr({ content: [text(), image('reference_image')], ratio: 'adaptive' }),
  ),
  taken('a regeneration of a base video', REGENERATION, byVideo(), { task_type: 'regeneration', resolution: '2K' }),
  taken(
    'a regeneration that keeps its reference media',
    REGENERATION,
    byVideo({ content: [text(), video('base_video'), image('reference_image'), sound('reference_audio')] }),
  ),
  taken('a regeneration with a watermark', REGENERATION, byVideo({ aigc_watermark: true })),
  taken(
    'a regeneration whose final prompt has 40000 code points',
    REGENERATION,
    byVideo({ content: [text('x'.repeat(40_000)), video('base_video')] }),
  ),
];
const forms: readonly Row[] = [
  taken('a PNG', GENERATION, withMedia(image('first_frame', '{{media}}/image.png'))),
  taken('a JPEG', GENERATION, withMedia(image('first_frame', '{{media}}/image.jpg'))),
  taken('a WebP', GENERATION, withMedia(image('first_frame', '{{media}}/image.webp'))),
  taken('a data URL', GENERATION, withMedia(image('first_frame', dataUrl('image.png')))),
  taken(
    'a data URL of a video',
    REGENERATION,
    byVideo({ content: [text(), video('base_video', dataUrl('768p.mp4'))] }),
  ),
  taken('an address that redirects', GENERATION, withMedia(image('first_frame', '{{media}}/moved.png'))),
  taken('an input_reference by its address', V1, compat({ input_reference: '{{media}}/image.png' })),
  taken('an input_reference as an object', V1, compat({ input_reference: { image_url: '{{media}}/image.png' } })),
  taken('an input_reference as a data URL', V1, compat({ input_reference: dataUrl('image.png') })),
  taken('an input_reference as bare base64', V1, compat({ input_reference: fixture('image.png').toString('base64') })),
  taken('the image of the flat dialect', GENERATIONS, generations({ image: '{{media}}/image.png' })),
  taken(
    'the image of the flat dialect as bare base64',
    GENERATIONS,
    generations({ image: fixture('image.png').toString('base64') }),
  ),
  taken('one of images of the flat dialect', GENERATIONS, generations({ images: ['{{media}}/image.png'] })),
  taken('several images of the flat dialect', GENERATIONS, generations({ images: several(3, '{{media}}/image.png') })),
  sequence(
    SECTION,
    'takes a link of a result of this service',
    [
      step(get(`${V1}/{{video}}`), { status: 200 }, { link: 'video_url' }),
      step(post(REGENERATION, byVideo({ content: [text(), video('base_video', '{{link}}')] })), { status: 200 }),
    ],
    OWN,
  ),
];

const BLOCKED = [
  'http://127.0.0.1:1/a.png',
  'http://localhost/a.png',
  'http://169.254.169.254/latest/meta-data',
  'http://[::1]/a.png',
  'http://10.0.0.1/a.png',
  'http://0x7f000001/a.png',
  'http://2130706433/a.png',
  'http://[::ffff:127.0.0.1]/a.png',
  'http://metadata.google.internal/',
  'ftp://media.example/a.png',
  'file:///etc/passwd',
  'javascript:alert(1)',
  '//media.example/a.png',
  'http://user:secret@media.example/a.png',
  'no address',
];
const BAD_FILES = [
  ['is away', 'gone.png'],
  ['is a page', 'page.png'],
  ['is a drawing', 'drawing.svg'],
  ['is empty', 'empty.png'],
  ['is over its size', 'huge.png'],
  ['redirects for ever', 'loop.png'],
  ['redirects to a private address', 'inward.png'],
  ['is too small', 'small.png'],
  ['is a video', 'clip.mov'],
] as const;
const media = refusedV2('invalid_media', 'content[1]');
const refusals: readonly Row[] = [
  ...table(
    SECTION,
    BLOCKED.map((url) => [`refuses ${url}`, post(GENERATION, withMedia(image('first_frame', url))), media]),
  ),
  ...table(
    SECTION,
    BAD_FILES.map(([what, file]) => [
      `refuses an image that ${what}`,
      post(GENERATION, withMedia(image('first_frame', `{{media}}/${file}`))),
      media,
    ]),
    OWN,
  ),
  ...table(
    SECTION,
    [
      [
        'refuses a reference video of half a second',
        post(GENERATION, withMedia(video('reference_video', '{{media}}/clip.mov'))),
        media,
      ],
      [
        'refuses a video that is an image',
        post(GENERATION, withMedia(video('reference_video', '{{media}}/image.png'))),
        media,
      ],
      [
        'refuses a sound that is a video',
        post(GENERATION, withMedia(image('reference_image'), sound('reference_audio', '{{media}}/clip.webm'))),
        refusedV2('invalid_media', 'content[2]'),
      ],
      [
        'refuses a data URL whose bytes are not an image',
        post(GENERATION, withMedia(image('first_frame', 'data:image/png;base64,AAAA'))),
        media,
      ],
      [
        'refuses a data URL that is not base64',
        post(GENERATION, withMedia(image('first_frame', 'data:image/png;base64,!!!!'))),
        media,
      ],
      [
        'refuses bytes that are not an image in an input_reference',
        post(V1, compat({ input_reference: 'data:image/png;base64,AAAA' })),
        refused('invalid_media', 'input_reference'),
      ],
      [
        'refuses an unreachable image of the flat dialect and names its field',
        post(GENERATIONS, generations({ image: '{{media}}/gone.png' })),
        refused('invalid_media', 'image'),
      ],
      [
        'refuses a second image and names its position',
        post(GENERATIONS, generations({ images: ['{{media}}/image.png', '{{media}}/gone.png'] })),
        refused('invalid_media', 'images[1]'),
      ],
      [
        'refuses an item of compatibility content and names its position',
        post(V1, compatContent([text(), image('first_frame', '{{media}}/gone.png')])),
        { status: 400, body: { error: { code: 'invalid_media', param: /^content\[1\]/ } } },
      ],
    ],
    OWN,
  ),
  ...table(SECTION, [
    [
      'refuses a file of the upstream account that the account was not granted',
      post(GENERATION, withMedia(image('first_frame', 'mm_file://424010985738629'))),
      { status: 400, body: { type: 'error' } },
    ],
    [
      'refuses an asset that the account was not granted',
      post(GENERATION, withMedia(image('reference_image', 'asset://asset-20261122'))),
      { status: 400, body: { type: 'error' } },
    ],
    [
      'refuses a file of the upstream account without its id',
      post(GENERATION, withMedia(image('first_frame', 'mm_file://'))),
      { status: 400, body: { type: 'error' } },
    ],
    [
      'refuses a link of a result with a signature of its own',
      post(GENERATION, withMedia(image('first_frame', '{{base}}/ximg/abc.png?exp=9999999999&sig=AAAA'))),
      { status: 400, body: { type: 'error' } },
    ],
  ]),
];

const callback = sequence(
  SECTION,
  "a context-IR callback_url reaches the upstream as it is, and the generator's check of it arrives there",
  [
    step(
      post(CONTEXT_IR, contextIr({ callback_url: '{{media}}/callback/a%2Fb?x=1&y=%20' })),
      { status: 200 },
      { task: 'task_id' },
    ),
    async ({ own }) =>
      own!.origin.received.some(({ method, path }) => method === 'POST' && path === '/callback/a%2Fb')
        ? undefined
        : 'nothing came to the callback_url',
    until(get(`${V1}/{{task}}`), { status: 200, body: { status: 'completed' } }),
  ],
  OWN,
);

export const mediaRows: readonly Row[] = [...modes, ...forms, ...refusals, callback];
