import { exactly, is } from '../engine/matchers.ts';
import { refusedV2 } from '../engine/refused.ts';
import { get, post, sequence, step, table } from '../engine/row.ts';
import type { Row } from '../engine/row.ts';
import {
  ASTRAL,
  CONTEXT_IR,
  GENERATION,
  QUERY,
  byTask,
  contextIr,
  generation,
  image,
  text,
  without,
} from './bodies.ts';

const GEN = 'Official generation';
const IR = 'Context-IR';
const REFUSED = { as: 'refusals' } as const;
const NAMED = '{{media}}/refused.mp4';

/** Accepted bodies with the resulting order. */
const ACCEPTED: readonly (readonly [section: string, name: string, path: string, body: object, order: object])[] = [
  [GEN, 'the shortest video', GENERATION, generation({ duration: 4 }), { duration: 4, task_type: 'generation' }],
  [GEN, 'the longest video', GENERATION, generation({ duration: 15 }), { duration: 15 }],
  [GEN, 'resolution 768P', GENERATION, generation({ resolution: '768P' }), { resolution: '768P' }],
  [GEN, 'resolution 2K', GENERATION, generation({ resolution: '2K' }), { resolution: '2K' }],
  ...['21:9', '16:9', '4:3', '1:1', '3:4', '9:16'].map(
    (ratio) => [GEN, `ratio ${ratio}`, GENERATION, generation({ ratio }), { ratio }] as const,
  ),
  [GEN, 'several texts', GENERATION, generation({ content: [text(), text('and a hare')] }), { duration: 4 }],
  [
    GEN,
    'an empty text beside one that is not',
    GENERATION,
    generation({ content: [text(' '), text()] }),
    { duration: 4 },
  ],
  [GEN, 'a text of 7000 code points', GENERATION, generation({}, 'x'.repeat(7000)), { duration: 4 }],
  [
    GEN,
    'a text of 7000 code points that are two units each',
    GENERATION,
    generation({}, ASTRAL.repeat(7000)),
    { duration: 4 },
  ],
  [
    GEN,
    '7000 code points in each of two texts',
    GENERATION,
    generation({ content: [text('x'.repeat(7000)), text('y'.repeat(7000))] }),
    { duration: 4 },
  ],
  [
    IR,
    'the shortest duration',
    CONTEXT_IR,
    contextIr({ duration: 4 }),
    { duration: 4, task_type: 'h3_context_ir', modality: 'text' },
  ],
  [IR, 'the longest duration', CONTEXT_IR, contextIr({ duration: 15 }), { duration: 15 }],
  ...['21:9', '16:9', '4:3', '1:1', '3:4', '9:16'].map(
    (ratio) => [IR, `ratio ${ratio}`, CONTEXT_IR, contextIr({ ratio }), { ratio }] as const,
  ),
  [IR, 'a text of 7000 code points', CONTEXT_IR, contextIr({}, 'x'.repeat(7000)), { duration: 4 }],
  [
    IR,
    'a text of 7000 code points that are two units each',
    CONTEXT_IR,
    contextIr({}, ASTRAL.repeat(7000)),
    { duration: 4 },
  ],
  [IR, 'an empty text beside one that is not', CONTEXT_IR, contextIr({ content: [text(''), text()] }), { duration: 4 }],
];
const accepted = ACCEPTED.map(([section, name, path, body, order]) =>
  sequence(section, `takes ${name}`, [
    step(post(path, body), { status: 200 }, { task: 'task_id' }),
    step(get(`${QUERY}/{{task}}`), { status: 200, body: { task: order } }),
  ]),
);
const answers = table(GEN, [
  [
    'answers {task_id} and nothing else',
    post(GENERATION, generation()),
    { status: 200, body: exactly({ task_id: is.taskId }) },
  ],
]).concat(
  table(IR, [
    [
      'answers {task_id} and nothing else',
      post(CONTEXT_IR, contextIr()),
      { status: 200, body: exactly({ task_id: is.taskId }) },
    ],
  ]),
);

const compatOnly = ['prompt', 'seconds', 'size', 'metadata', 'n', 'image', 'input_reference', 'width', 'seed', 'user'];
const generationRefused = table(GEN, [
  [
    'refuses a body without a model',
    post(GENERATION, without(generation(), 'model'), REFUSED),
    refusedV2('missing_model', 'model'),
  ],
  ['refuses an empty model', post(GENERATION, generation({ model: '' }), REFUSED), refusedV2('missing_model', 'model')],
  [
    'refuses an unknown model with 404',
    post(GENERATION, generation({ model: 'No-Such-Model' }), REFUSED),
    refusedV2('model_not_found', 'model'),
  ],
  [
    'refuses a body without content',
    post(GENERATION, without(generation(), 'content'), REFUSED),
    refusedV2('invalid_content', 'content'),
  ],
  [
    'refuses a body without a duration',
    post(GENERATION, without(generation(), 'duration'), REFUSED),
    refusedV2('invalid_duration', 'duration'),
  ],
  [
    'refuses a duration as text',
    post(GENERATION, generation({ duration: '5' }), REFUSED),
    refusedV2('invalid_duration', 'duration'),
  ],
  [
    'refuses a duration with a fraction',
    post(GENERATION, generation({ duration: 4.5 }), REFUSED),
    refusedV2('invalid_duration', 'duration'),
  ],
  [
    'refuses a duration of null',
    post(GENERATION, generation({ duration: null }), REFUSED),
    refusedV2('invalid_duration', 'duration'),
  ],
  [
    'refuses a duration of 3',
    post(GENERATION, generation({ duration: 3 }), REFUSED),
    refusedV2('invalid_duration', 'duration'),
  ],
  [
    'refuses a duration of 16',
    post(GENERATION, generation({ duration: 16 }), REFUSED),
    refusedV2('invalid_duration', 'duration'),
  ],
  [
    'refuses a duration of zero',
    post(GENERATION, generation({ duration: 0 }), REFUSED),
    refusedV2('invalid_duration', 'duration'),
  ],
  [
    'refuses a negative duration',
    post(GENERATION, generation({ duration: -5 }), REFUSED),
    refusedV2('invalid_duration', 'duration'),
  ],
  [
    'refuses a duration beyond 32 bits',
    post(GENERATION, generation({ duration: 4294967300 }), REFUSED),
    refusedV2('invalid_duration', 'duration'),
  ],
  [
    'refuses a body without a resolution',
    post(GENERATION, without(generation(), 'resolution'), REFUSED),
    refusedV2('invalid_resolution', 'resolution'),
  ],
  [
    'refuses a resolution that the model does not have',
    post(GENERATION, generation({ resolution: '1080P' }), REFUSED),
    refusedV2('invalid_resolution', 'resolution'),
  ],
  [
    'refuses a resolution in small letters',
    post(GENERATION, generation({ resolution: '2k' }), REFUSED),
    refusedV2('invalid_resolution', 'resolution'),
  ],
  [
    'refuses an empty resolution',
    post(GENERATION, generation({ resolution: '' }), REFUSED),
    refusedV2('invalid_resolution', 'resolution'),
  ],
  [
    'refuses text only without a ratio',
    post(GENERATION, without(generation(), 'ratio'), REFUSED),
    refusedV2('invalid_ratio', 'ratio'),
  ],
  [
    'refuses text only with the ratio adaptive',
    post(GENERATION, generation({ ratio: 'adaptive' }), REFUSED),
    refusedV2('invalid_ratio', 'ratio'),
  ],
  [
    'refuses a ratio that the model does not have',
    post(GENERATION, generation({ ratio: '2:1' }), REFUSED),
    refusedV2('invalid_ratio', 'ratio'),
  ],
  ['refuses an empty ratio', post(GENERATION, generation({ ratio: '' }), REFUSED), refusedV2('invalid_ratio', 'ratio')],
  [
    'refuses a ratio that is not text',
    post(GENERATION, generation({ ratio: 1 }), REFUSED),
    refusedV2('invalid_ratio', 'ratio'),
  ],
  [
    'refuses media with a ratio that the model does not have',
    post(GENERATION, generation({ content: [text(), image('first_frame', NAMED)], ratio: '2:1' }), REFUSED),
    refusedV2('invalid_ratio', 'ratio'),
  ],
  ...compatOnly.map(
    (field) =>
      [
        `refuses ${field}: it belongs to the compatibility dialect`,
        post(GENERATION, generation({ [field]: field === 'n' ? 1 : 'x' }), REFUSED),
        refusedV2('unknown_field', field),
      ] as const,
  ),
  ...['source_task_id', 'action', 'callback_url', 'aigc_watermark', 'extra'].map(
    (field) =>
      [
        `refuses ${field}: it belongs to another operation`,
        post(GENERATION, generation({ [field]: 'x' }), REFUSED),
        refusedV2('unknown_field', field),
      ] as const,
  ),
  ['refuses a body shaped for regeneration', post(GENERATION, byTask(), REFUSED), refusedV2('invalid_content')],
  [
    'refuses a body shaped for context-IR',
    post(GENERATION, contextIr(), REFUSED),
    refusedV2('invalid_resolution', 'resolution'),
  ],
  [
    'refuses a flat body',
    post(GENERATION, { model: 'Alpha-H3', prompt: 'a red boat' }, REFUSED),
    refusedV2('invalid_content'),
  ],
  [
    'keeps to the ranges of another model: its durations',
    post(GENERATION, generation({ model: 'Beta-V1', duration: 4 }), REFUSED),
    refusedV2('invalid_duration', 'duration'),
  ],
]);
const betaOnly = ['keeps to the ranges of another model: its durations'];

/** Only the suite's own configuration has another model than the contract's. */
const needsOwn = (row: Row): Row => (betaOnly.includes(row.name) ? { ...row, needs: ['own program'] } : row);

export const officialRows: readonly Row[] = [...answers, ...accepted, ...generationRefused.map(needsOwn)];
