import { exactly, is, within } from '../engine/matchers.ts';
import { refused } from '../engine/refused.ts';
import { get, post, sequence, step, table } from '../engine/row.ts';
import type { Row } from '../engine/row.ts';
import {
  GENERATIONS,
  QUERY,
  UNKNOWN,
  V1,
  compat,
  compatContent,
  generations,
  image,
  several,
  text,
  video,
  without,
} from './bodies.ts';

const COMPAT = 'Compatibility create';
const FLAT = 'Flat create';
const REFUSED = { as: 'refusals' } as const;

const created = {
  id: is.taskId,
  task_id: is.taskId,
  object: 'video',
  model: 'Alpha-H3',
  status: 'queued',
  progress: within(0, 99),
  created_at: is.unix,
  seconds: '4',
};

const shape: readonly Row[] = [
  sequence(COMPAT, 'answers 200 with the whole object, under both of its ids', [
    step(post(V1, compat()), { status: 200, body: exactly({ ...created, size: '1280x720' }) }, { id: 'id' }),
    step(get(`${V1}/{{id}}`), { status: 200, body: { task_id: '{{id}}', id: '{{id}}' } }),
  ]),
  sequence(FLAT, 'answers 200 with the id under both names and the state', [
    step(post(GENERATIONS, generations()), {
      status: 200,
      body: exactly({ task_id: is.taskId, id: is.taskId, status: 'queued' }),
    }),
  ]),
  sequence(FLAT, 'lists the ignored fields in each of its answers', [
    step(
      post(GENERATIONS, generations({ seed: 7, fps: 24, user: 'u' })),
      {
        status: 200,
        body: exactly({ task_id: is.taskId, id: is.taskId, status: 'queued', ignored: ['seed', 'fps'] }),
      },
      { id: 'id' },
    ),
    step(get(`${GENERATIONS}/{{id}}`), { status: 200, body: { ignored: ['seed', 'fps'] } }),
  ]),
];

/** Flat fields, with the resulting order in the vendor's shape. */
const ACCEPTED: readonly (readonly [section: string, name: string, path: string, body: object, order: object])[] = [
  [COMPAT, 'seconds as text', V1, compat({ seconds: '4' }), { duration: 4 }],
  [COMPAT, 'the most seconds', V1, compat({ seconds: '15' }), { duration: 15 }],
  [COMPAT, 'seconds as a whole number', V1, compat({ seconds: 6 }), { duration: 6 }],
  [COMPAT, 'duration in the place of seconds', V1, without(compat({ duration: 7 }), 'seconds'), { duration: 7 }],
  [COMPAT, 'seconds and duration that agree', V1, compat({ seconds: '5', duration: 5 }), { duration: 5 }],
  [COMPAT, 'no seconds: the default of the model', V1, without(compat(), 'seconds'), { duration: 5 }],
  [COMPAT, 'no size: the defaults of the model', V1, without(compat(), 'size'), { ratio: '16:9', resolution: '768P' }],
  [COMPAT, 'size 1280x720 as 16:9', V1, compat({ size: '1280x720' }), { ratio: '16:9', resolution: '768P' }],
  [COMPAT, 'size 720x1280 as 9:16', V1, compat({ size: '720x1280' }), { ratio: '9:16', resolution: '768P' }],
  [COMPAT, 'size 1024x1024 as 1:1', V1, compat({ size: '1024x1024' }), { ratio: '1:1', resolution: '768P' }],
  [COMPAT, 'size 1024x768 as 4:3', V1, compat({ size: '1024x768' }), { ratio: '4:3', resolution: '768P' }],
  [COMPAT, 'size 768x1024 as 3:4', V1, compat({ size: '768x1024' }), { ratio: '3:4', resolution: '768P' }],
  [COMPAT, 'size 1792x768 as 21:9', V1, compat({ size: '1792x768' }), { ratio: '21:9', resolution: '768P' }],
  [COMPAT, 'size 2047x1152 as 768P', V1, compat({ size: '2047x1152' }), { ratio: '16:9', resolution: '768P' }],
  [COMPAT, 'size 2048x1152 as 2K', V1, compat({ size: '2048x1152' }), { ratio: '16:9', resolution: '2K' }],
  [COMPAT, 'size 1440x2560 as 2K', V1, compat({ size: '1440x2560' }), { ratio: '9:16', resolution: '2K' }],
  [COMPAT, 'ratio before size', V1, compat({ ratio: '1:1' }), { ratio: '1:1' }],
  [COMPAT, 'resolution before size', V1, compat({ resolution: '2K' }), { resolution: '2K', ratio: '16:9' }],
  [COMPAT, 'words in its content', V1, compatContent([text('[queue:1ms] a boat')]), { task_type: 'generation' }],
  [COMPAT, 'the same words twice', V1, compat({ content: [text('a red boat')] }), { task_type: 'generation' }],
  [COMPAT, 'user, metadata and n of one', V1, compat({ user: 'u', metadata: { a: 1 }, n: 1 }), { duration: 4 }],
  [COMPAT, 'aspect_ratio before size', V1, compat({ aspect_ratio: '9:16' }), { ratio: '9:16' }],
  [COMPAT, 'null for a field that is left out', V1, compat({ source_task_id: null, content: null }), { duration: 4 }],
  [COMPAT, 'an empty source_task_id', V1, compat({ source_task_id: '' }), { task_type: 'generation' }],
  [COMPAT, 'an empty content', V1, compat({ content: [] }), { task_type: 'generation' }],
  [FLAT, 'duration as a whole number', GENERATIONS, generations({ duration: 15 }), { duration: 15 }],
  [FLAT, 'duration as text', GENERATIONS, generations({ duration: '6' }), { duration: 6 }],
  [
    FLAT,
    'seconds in the place of duration',
    GENERATIONS,
    without(generations({ seconds: '7' }), 'duration'),
    { duration: 7 },
  ],
  [FLAT, 'size', GENERATIONS, generations({ size: '720x1280' }), { ratio: '9:16', resolution: '768P' }],
  [
    FLAT,
    'width and height',
    GENERATIONS,
    generations({ width: 2560, height: 1440 }),
    { ratio: '16:9', resolution: '2K' },
  ],
  [
    FLAT,
    'width, height and the same size',
    GENERATIONS,
    generations({ width: 640, height: 640, size: '640x640' }),
    { ratio: '1:1' },
  ],
  [
    FLAT,
    'ratio and resolution',
    GENERATIONS,
    generations({ ratio: '4:3', resolution: '2K' }),
    { ratio: '4:3', resolution: '2K' },
  ],
  [FLAT, 'no frame: the defaults of the model', GENERATIONS, generations(), { ratio: '16:9', resolution: '768P' }],
  [FLAT, 'n of one', GENERATIONS, generations({ n: 1 }), { duration: 4 }],
  [
    FLAT,
    'seed, fps, response_format, user and metadata',
    GENERATIONS,
    generations({ seed: 1, fps: 24, response_format: 'url', user: 'u', metadata: { a: 1 } }),
    { duration: 4 },
  ],
  [
    FLAT,
    'words in its content',
    GENERATIONS,
    without(generations({ content: [text()] }), 'prompt'),
    { task_type: 'generation' },
  ],
  [FLAT, 'the action of a generation', GENERATIONS, generations({ action: 'generate' }), { task_type: 'generation' }],
];
const accepted = ACCEPTED.map(([section, name, path, body, order]) =>
  sequence(section, `takes ${name}`, [
    step(post(path, body), { status: 200 }, { task: 'task_id' }),
    step(get(`${QUERY}/{{task}}`), { status: 200, body: { task: order } }),
  ]),
);

/** Names of other APIs, in both open dialects. Each was once dropped, and the video was made without it. */
const FOREIGN: readonly (readonly [name: string, value: unknown])[] = [
  ...['image_url', 'input_image', 'img_url', 'start_image', 'image_tail', 'video_url', 'audio_url'].map(
    (name) => [name, 'https://files.example/a.png'] as const,
  ),
  ...['input_references', 'frame_images', 'image_urls', 'Images', 'imageUrls'].map(
    (name) => [name, ['https://files.example/a.png']] as const,
  ),
  ['firstFrame', { url: 'https://files.example/a.png' }],
  ['audio', true],
  ['generate_audio', true],
  ['num_frames', 96],
  ['resolution_name', '720p'],
  ['aspectRatio', '9:16'],
  ['Seconds', '4'],
  ['duration_seconds', 4],
  ['max_ammount', '0.01'],
  ['maxAmount', '0.01'],
  ['negative_prompt', 'blur'],
  ['extra_body', { seed: 7 }],
];
const foreign = [
  ...FOREIGN.map(([name, value]) => [COMPAT, V1, compat({ [name]: value }), name] as const),
  ...FOREIGN.map(([name, value]) => [FLAT, GENERATIONS, generations({ [name]: value }), name] as const),
  ...['seed', 'fps', 'response_format', 'width'].map((name) => [COMPAT, V1, compat({ [name]: 7 }), name] as const),
].flatMap(([section, path, body, name]) =>
  table(section, [
    [`refuses ${name}, which no channel takes`, post(path, body, REFUSED), refused('unknown_field', name)],
  ]),
);

/** Values that a channel could not follow. */
const UNFIT: readonly (readonly [
  section: string,
  path: string,
  body: object,
  code: Parameters<typeof refused>[0],
  name: string,
])[] = [
  [FLAT, GENERATIONS, generations({ seed: 2 ** 32 }), 'invalid_request', 'seed'],
  [FLAT, GENERATIONS, generations({ seed: 1.5 }), 'invalid_request', 'seed'],
  [FLAT, GENERATIONS, generations({ fps: 0 }), 'invalid_request', 'fps'],
  [FLAT, GENERATIONS, generations({ response_format: 'b64_json' }), 'invalid_request', 'response_format'],
  [COMPAT, V1, compat({ n: 2 }), 'invalid_request', 'n'],
  [COMPAT, V1, compat({ ratio: '16:9', aspect_ratio: '9:16' }), 'invalid_ratio', 'aspect_ratio'],
  [COMPAT, V1, compat({ image: 'https://a.example/a.png', last_frame: '' }), 'invalid_content', 'last_frame'],
  [COMPAT, V1, compat({ metadata: { duration: 10 } }), 'unknown_field', 'metadata.duration'],
  [COMPAT, V1, { model: 'Alpha-H3', source_task_id: UNKNOWN, seconds: '15' }, 'invalid_duration', 'seconds'],
];
const unfit = UNFIT.flatMap(([section, path, body, code, name]) =>
  table(section, [
    [`refuses a wrong ${name}: ${JSON.stringify(body)}`, post(path, body, REFUSED), refused(code, name)],
  ]),
);

const estimates = table('Estimate', [
  ...FOREIGN.slice(0, 3).map(
    ([name, value]) =>
      [
        `refuses ${name} as the create does`,
        post(`${V1}/estimate`, compat({ [name]: value }), REFUSED),
        refused('unknown_field', name),
      ] as const,
  ),
  [
    'lists the ignored fields',
    post(`${V1}/estimate?path=${GENERATIONS}`, generations({ seed: 7, fps: 24 })),
    { status: 200, body: { ignored: ['seed', 'fps'] } },
  ],
]);

const compatRefused = table(COMPAT, [
  ['refuses a body without a model', post(V1, without(compat(), 'model'), REFUSED), refused('missing_model', 'model')],
  ['refuses an empty model', post(V1, compat({ model: '' }), REFUSED), refused('missing_model', 'model')],
  ['refuses a model that is not text', post(V1, compat({ model: 3 }), REFUSED), refused('missing_model', 'model')],
  [
    'refuses an unknown model with 404',
    post(V1, compat({ model: 'No-Such-Model' }), REFUSED),
    refused('model_not_found', 'model'),
  ],
  [
    'refuses the name of the model in small letters with 404',
    post(V1, compat({ model: 'alpha-h3' }), REFUSED),
    refused('model_not_found', 'model'),
  ],
  [
    'refuses a body without words',
    post(V1, without(compat(), 'prompt'), REFUSED),
    refused('invalid_content', 'prompt'),
  ],
  ['refuses an empty prompt', post(V1, compat({ prompt: '' }), REFUSED), refused('invalid_content', 'prompt')],
  [
    'refuses a prompt of white space',
    post(V1, compat({ prompt: ' \n\t' }), REFUSED),
    refused('invalid_content', 'prompt'),
  ],
  ['refuses a prompt that is not text', post(V1, compat({ prompt: 5 }), REFUSED), refused('invalid_content', 'prompt')],
  [
    'refuses a prompt of 7001 code points',
    post(V1, compat({ prompt: 'x'.repeat(7001) }), REFUSED),
    refused('invalid_content', 'prompt'),
  ],
  [
    'refuses a prompt with half a character',
    post(V1, '{"model":"Alpha-H3","prompt":"\\ud83d"}', REFUSED),
    refused('invalid_content', 'prompt'),
  ],
  [
    'refuses a prompt beside other words',
    post(V1, compat({ content: [text('a blue boat')] }), REFUSED),
    refused('invalid_content', 'prompt'),
  ],
  ['refuses 3 seconds', post(V1, compat({ seconds: '3' }), REFUSED), refused('invalid_duration', 'seconds')],
  ['refuses 16 seconds', post(V1, compat({ seconds: '16' }), REFUSED), refused('invalid_duration', 'seconds')],
  ['refuses no seconds at all', post(V1, compat({ seconds: '' }), REFUSED), refused('invalid_duration', 'seconds')],
  [
    'refuses seconds with a fraction',
    post(V1, compat({ seconds: 4.5 }), REFUSED),
    refused('invalid_duration', 'seconds'),
  ],
  [
    'refuses seconds with a fraction, as text',
    post(V1, compat({ seconds: '4.5' }), REFUSED),
    refused('invalid_duration', 'seconds'),
  ],
  ['refuses negative seconds', post(V1, compat({ seconds: '-4' }), REFUSED), refused('invalid_duration', 'seconds')],
  [
    'refuses seconds that are not a number',
    post(V1, compat({ seconds: 'four' }), REFUSED),
    refused('invalid_duration', 'seconds'),
  ],
  [
    'refuses seconds that are true',
    post(V1, compat({ seconds: true }), REFUSED),
    refused('invalid_duration', 'seconds'),
  ],
  [
    'refuses seconds and duration that differ',
    post(V1, compat({ seconds: '5', duration: 6 }), REFUSED),
    refused('invalid_duration', 'seconds'),
  ],
  [
    'names duration if the request used that name',
    post(V1, without(compat({ duration: 16 }), 'seconds'), REFUSED),
    refused('invalid_duration', 'duration'),
  ],
  ['refuses an invalid size', post(V1, compat({ size: 'large' }), REFUSED), refused('invalid_request', 'size')],
  ['refuses a size without a height', post(V1, compat({ size: '1280' }), REFUSED), refused('invalid_request', 'size')],
  ['refuses a size of nothing', post(V1, compat({ size: '0x720' }), REFUSED), refused('invalid_request', 'size')],
  ['refuses a size that is not text', post(V1, compat({ size: 1280 }), REFUSED), refused('invalid_request', 'size')],
  [
    'refuses a ratio that the model does not have',
    post(V1, compat({ ratio: '2:1' }), REFUSED),
    refused('invalid_ratio', 'ratio'),
  ],
  [
    'refuses the ratio adaptive for text only',
    post(V1, compat({ ratio: 'adaptive' }), REFUSED),
    refused('invalid_ratio', 'ratio'),
  ],
  [
    'refuses a resolution that the model does not have',
    post(V1, compat({ resolution: '4K' }), REFUSED),
    refused('invalid_resolution', 'resolution'),
  ],
  [
    'refuses content that is not list',
    post(V1, compatContent({} as never), REFUSED),
    refused('invalid_content', 'content'),
  ],
  [
    'refuses more content than a hundred items',
    post(V1, compatContent(several(101, text())), REFUSED),
    refused('invalid_content', 'content'),
  ],
  [
    'refuses an empty input_reference',
    post(V1, compat({ input_reference: '' }), REFUSED),
    refused('invalid_request', 'input_reference'),
  ],
  [
    'refuses an input_reference of a file id',
    post(V1, compat({ input_reference: { file_id: 'file-1' } }), REFUSED),
    refused('invalid_request'),
  ],
  [
    'refuses an input_reference that is not image',
    post(V1, compat({ input_reference: 'data:video/mp4;base64,AAAA' }), REFUSED),
    refused('invalid_media', 'input_reference'),
  ],
]);

const flatRefused = table(FLAT, [
  [
    'refuses a body without a model',
    post(GENERATIONS, without(generations(), 'model'), REFUSED),
    refused('missing_model', 'model'),
  ],
  [
    'refuses a body without words',
    post(GENERATIONS, without(generations(), 'prompt'), REFUSED),
    refused('invalid_content', 'prompt'),
  ],
  [
    'refuses 3 seconds',
    post(GENERATIONS, generations({ duration: 3 }), REFUSED),
    refused('invalid_duration', 'duration'),
  ],
  [
    'refuses 16 seconds',
    post(GENERATIONS, generations({ duration: 16 }), REFUSED),
    refused('invalid_duration', 'duration'),
  ],
  [
    'refuses seconds with a fraction',
    post(GENERATIONS, generations({ duration: 5.5 }), REFUSED),
    refused('invalid_duration', 'duration'),
  ],
  [
    'refuses a width without a height',
    post(GENERATIONS, generations({ width: 1280 }), REFUSED),
    refused('invalid_request', 'height'),
  ],
  [
    'refuses a height without a width',
    post(GENERATIONS, generations({ height: 720 }), REFUSED),
    refused('invalid_request', 'width'),
  ],
  [
    'refuses a width of zero',
    post(GENERATIONS, generations({ width: 0, height: 720 }), REFUSED),
    refused('invalid_request', 'width'),
  ],
  [
    'refuses a size that differs from width and height',
    post(GENERATIONS, generations({ width: 1280, height: 720, size: '1x1' }), REFUSED),
    refused('invalid_request', 'size'),
  ],
  ['refuses two videos at once', post(GENERATIONS, generations({ n: 2 }), REFUSED), refused('invalid_request', 'n')],
  [
    'refuses seventeen images',
    post(GENERATIONS, generations({ images: several(17, 'https://media.example/a.png') }), REFUSED),
    refused('invalid_content', 'images'),
  ],
  [
    'refuses an empty image',
    post(GENERATIONS, generations({ image: '' }), REFUSED),
    refused('invalid_content', 'image'),
  ],
  [
    'refuses a source task',
    post(GENERATIONS, generations({ source_task_id: UNKNOWN }), REFUSED),
    refused('conflicting_source', 'source_task_id'),
  ],
  [
    'refuses the action of a regeneration',
    post(GENERATIONS, generations({ action: 'regeneration' }), REFUSED),
    refused('invalid_action', 'action'),
  ],
  [
    'refuses a base video: this path only generates',
    post(GENERATIONS, generations({ content: [video('base_video')] }), REFUSED),
    refused('invalid_content'),
  ],
  [
    'refuses a ratio that the model does not have',
    post(GENERATIONS, generations({ ratio: '2:1' }), REFUSED),
    refused('invalid_ratio', 'ratio'),
  ],
  [
    'refuses a resolution that the model does not have',
    post(GENERATIONS, generations({ resolution: '480P' }), REFUSED),
    refused('invalid_resolution', 'resolution'),
  ],
  [
    'refuses an unknown model with 404',
    post(GENERATIONS, generations({ model: 'No-Such-Model' }), REFUSED),
    refused('model_not_found', 'model'),
  ],
  [
    'refuses a frame beside a reference',
    post(
      GENERATIONS,
      generations({
        image: 'https://media.example/a.png',
        content: [image('reference_image', 'https://media.example/b.png')],
      }),
      REFUSED,
    ),
    refused('invalid_content', 'content'),
  ],
]);

export const createRows: readonly Row[] = [
  ...shape,
  ...accepted,
  ...compatRefused,
  ...foreign,
  ...unfit,
  ...estimates,
  ...flatRefused,
];
