import { Form } from '../engine/form.ts';
import { oneOf } from '../engine/matchers.ts';
import { refused, refusedV2 } from '../engine/refused.ts';
import { get, post, sequence, step, table } from '../engine/row.ts';
import type { Row } from '../engine/row.ts';
import { fixture } from '../world/media-origin.ts';
import {
  CONTEXT_IR,
  GENERATION,
  QUERY,
  REGENERATION,
  UNKNOWN,
  V1,
  compat,
  compatContent,
  image,
  text,
  video,
} from './bodies.ts';

const SECTION = 'Routing';
const FORM = 'Form of a compatibility create';
const REFUSED = { as: 'refusals' } as const;
const OWN = { needs: ['own program'] } as const;
const NAMED = '{{media}}/refused.mp4';

const routesTo = (name: string, body: object, taskType: string): Row =>
  sequence(
    SECTION,
    name,
    [
      step(post(V1, body), { status: 200 }, { task: 'task_id' }),
      step(get(`${QUERY}/{{task}}`), { status: 200, body: { task: { task_type: taskType } } }),
    ],
    OWN,
  );

const chosen: readonly Row[] = [
  routesTo('no evidence of regeneration selects generation', compat(), 'generation'),
  routesTo('a source_task_id selects regeneration', { model: 'Alpha-H3', source_task_id: '{{video}}' }, 'regeneration'),
  routesTo(
    'a source_task_id selects regeneration, whatever the prompt says',
    { model: 'Alpha-H3', source_task_id: '{{video}}', prompt: 'anything' },
    'regeneration',
  ),
  routesTo(
    'one base_video selects regeneration',
    compatContent([text(), video('base_video')], { seconds: null }),
    'regeneration',
  ),
  routesTo(
    'one base_video with a flat prompt selects regeneration',
    { model: 'Alpha-H3', prompt: 'a red boat', content: [video('base_video')] },
    'regeneration',
  ),
  routesTo('a reference_video stays generation', compatContent([text(), video('reference_video')]), 'generation'),
  routesTo('a first frame stays generation', compatContent([text(), image('first_frame')]), 'generation'),
  routesTo('an action that agrees with a generation', compat({ action: 'generation' }), 'generation'),
  routesTo('the other word for a generation', compat({ action: 'generate' }), 'generation'),
  routesTo(
    'an action that agrees with a regeneration',
    { model: 'Alpha-H3', source_task_id: '{{video}}', action: 'regeneration', resolution: '2K' },
    'regeneration',
  ),
  routesTo(
    'the other word for a regeneration',
    { model: 'Alpha-H3', source_task_id: '{{video}}', action: 'regenerate' },
    'regeneration',
  ),
];

const base = video('base_video', NAMED);
const conflicts = table(SECTION, [
  [
    'a source_task_id beside a base_video is refused',
    post(V1, { model: 'Alpha-H3', source_task_id: UNKNOWN, content: [base] }, REFUSED),
    refused('conflicting_source', 'source_task_id'),
  ],
  [
    'two base_video items are refused',
    post(V1, compatContent([text(), base, base]), REFUSED),
    refused('conflicting_source', 'content'),
  ],
  [
    'three base_video items are refused',
    post(V1, compatContent([text(), base, base, base]), REFUSED),
    refused('conflicting_source', 'content'),
  ],
  [
    'an empty base_video is refused',
    post(V1, compatContent([text(), video('base_video', '')]), REFUSED),
    refused('invalid_content', 'content[1].video_url.url'),
  ],
  [
    'a base_video without its object is refused',
    post(V1, compatContent([text(), { type: 'video_url', role: 'base_video' }]), REFUSED),
    refused('invalid_content', 'content[1].video_url'),
  ],
  [
    'a base_video of an image is refused',
    post(V1, compatContent([text(), image('base_video', NAMED)]), REFUSED),
    refused('invalid_content', 'content[1].role'),
  ],
  [
    'regeneration without a source contradicts the body',
    post(V1, compat({ action: 'regeneration' }), REFUSED),
    refused('invalid_action', 'action'),
  ],
  [
    'regeneration of a reference_video contradicts the body',
    post(V1, compatContent([text(), video('reference_video', NAMED)], { action: 'regenerate' }), REFUSED),
    refused('invalid_action', 'action'),
  ],
  [
    'generation of a source_task_id contradicts the body',
    post(V1, { model: 'Alpha-H3', source_task_id: UNKNOWN, action: 'generation' }, REFUSED),
    refused('invalid_action', 'action'),
  ],
  [
    'generation of a base_video contradicts the body',
    post(V1, compatContent([text(), base], { action: 'generate' }), REFUSED),
    refused('invalid_action', 'action'),
  ],
  [
    'an action of no kind is refused',
    post(V1, compat({ action: 'upscale' }), REFUSED),
    refused('invalid_action', 'action'),
  ],
  ['an empty action is refused', post(V1, compat({ action: '' }), REFUSED), refused('invalid_action', 'action')],
  [
    'an action that is not text is refused',
    post(V1, compat({ action: 1 }), REFUSED),
    refused('invalid_action', 'action'),
  ],
  [
    'a regeneration at another resolution than 2K is refused',
    post(V1, { model: 'Alpha-H3', source_task_id: UNKNOWN, resolution: '768P' }, REFUSED),
    refused('invalid_resolution', 'resolution'),
  ],
  [
    'a regeneration with another model is refused',
    post(V1, { model: 'Beta-V1', source_task_id: UNKNOWN }, REFUSED),
    refused('invalid_request', 'model'),
  ],
  [
    'a regeneration of a base_video without words is refused',
    post(V1, { model: 'Alpha-H3', content: [base] }, REFUSED),
    refused('invalid_content'),
  ],
  [
    'a watermark that is neither true nor false is refused',
    post(V1, { model: 'Alpha-H3', source_task_id: UNKNOWN, aigc_watermark: 'yes' }, REFUSED),
    refused('invalid_request', 'aigc_watermark'),
  ],
  [
    'an unknown source_task_id is 404',
    post(V1, { model: 'Alpha-H3', source_task_id: UNKNOWN }),
    refused('task_not_found', 'source_task_id'),
  ],
]);

const fixed = table(SECTION, [
  [
    'the generation path never regenerates: a base_video is refused',
    post(
      GENERATION,
      { model: 'Alpha-H3', content: [text(), base], duration: 4, resolution: '768P', ratio: '16:9' },
      REFUSED,
    ),
    refusedV2('invalid_content', 'content[1].role'),
  ],
  [
    'the generation path never regenerates: a source_task_id is refused',
    post(GENERATION, { model: 'Alpha-H3', source_task_id: UNKNOWN, resolution: '2K' }, REFUSED),
    { status: 400 },
  ],
  [
    'the regeneration path never generates',
    post(REGENERATION, { model: 'Alpha-H3', content: [text()], resolution: '2K' }, REFUSED),
    refusedV2('invalid_request', 'source_task_id'),
  ],
  [
    'the context-IR path takes no type of task from the client',
    post(
      CONTEXT_IR,
      { model: 'Alpha-H3', content: [text()], duration: 4, ratio: '16:9', task_type: 'generation' },
      REFUSED,
    ),
    refusedV2('unknown_field', 'task_type'),
  ],
]);

const frame = { bytes: fixture('image.png'), type: 'image/png', name: 'first.png' };
const fields = [
  ['model', 'Alpha-H3'],
  ['prompt', 'a red boat'],
  ['seconds', '4'],
  ['size', '1280x720'],
] as const;
const formTo = (name: string, form: Form, order: object): Row =>
  sequence(FORM, name, [
    step(post(V1, form), { status: 200, body: { object: 'video', status: 'queued' } }, { task: 'task_id' }),
    step(get(`${QUERY}/{{task}}`), { status: 200, body: { task: order } }),
  ]);
const forms: readonly Row[] = [
  formTo('takes text fields', new Form(...fields), { duration: 4, ratio: '16:9', resolution: '768P' }),
  formTo('takes the first frame as a file', new Form(...fields, ['input_reference', frame]), { duration: 4 }),
  formTo(
    'takes the file of a client that writes no type',
    new Form(...fields, ['input_reference', { ...frame, type: 'application/octet-stream' }]),
    { duration: 4 },
  ),
  formTo(
    'takes content as one JSON text',
    new Form(['model', 'Alpha-H3'], ['seconds', '6'], ['content', JSON.stringify([text()])]),
    { duration: 6 },
  ),
  formTo(
    'takes content that is flattened without an index',
    new Form(['model', 'Alpha-H3'], ['content[][type]', 'text'], ['content[][text]', 'a red boat']),
    { task_type: 'generation' },
  ),
  formTo(
    'takes content that is flattened with an index',
    new Form(['model', 'Alpha-H3'], ['content[0][type]', 'text'], ['content[0][text]', 'a red boat']),
    { task_type: 'generation' },
  ),
  sequence(
    FORM,
    'a base_video that is flattened selects regeneration',
    [
      step(
        post(
          V1,
          new Form(
            ['model', 'Alpha-H3'],
            ['content[][type]', 'text'],
            ['content[][text]', 'a red boat'],
            ['content[][type]', 'video_url'],
            ['content[][role]', 'base_video'],
            ['content[][video_url][url]', '{{media}}/768p.mp4'],
          ),
        ),
        { status: 200 },
        { task: 'task_id' },
      ),
      step(get(`${QUERY}/{{task}}`), { status: 200, body: { task: { task_type: 'regeneration' } } }),
    ],
    OWN,
  ),
  ...table(FORM, [
    [
      'refuses a form without a model',
      post(V1, new Form(['prompt', 'a red boat']), REFUSED),
      refused('missing_model', 'model'),
    ],
    [
      'refuses a field that is given twice',
      post(V1, new Form(...fields, ['prompt', 'another']), REFUSED),
      refused('invalid_content', 'prompt'),
    ],
    [
      'refuses content that is not JSON',
      post(V1, new Form(['model', 'Alpha-H3'], ['content', 'a red boat']), REFUSED),
      refused('invalid_content', 'content'),
    ],
    [
      'refuses content in both spellings',
      post(V1, new Form(['model', 'Alpha-H3'], ['content', '[]'], ['content[][type]', 'text']), REFUSED),
      refused('invalid_content', 'content'),
    ],
    [
      'refuses content in a spelling of its own',
      post(V1, new Form(['model', 'Alpha-H3'], ['content[a][b][c][d]', 'text']), REFUSED),
      refused('invalid_content'),
    ],
    [
      'refuses a file of another name',
      post(V1, new Form(...fields, ['image', frame]), REFUSED),
      refused('unknown_field', 'image'),
    ],
    [
      'refuses two first frames',
      post(V1, new Form(...fields, ['input_reference', frame], ['input_reference', frame]), REFUSED),
      refused('invalid_request', 'input_reference'),
    ],
    [
      'refuses a first frame as a file and as an address',
      post(V1, new Form(...fields, ['input_reference', frame], ['input_reference[image_url]', NAMED]), REFUSED),
      refused('invalid_request', 'input_reference'),
    ],
    [
      'refuses a file id',
      post(V1, new Form(...fields, ['input_reference[file_id]', 'file-1']), REFUSED),
      refused('unknown_field', 'input_reference[file_id]'),
    ],
    ...['image_url', 'img_url', 'max_ammount', 'resolution_name', 'fps', 'image_url[url]', 'parameters[seed]'].map(
      (name) =>
        [
          `refuses ${name}, which it does not know`,
          post(V1, new Form(...fields, [name, '7']), REFUSED),
          refused('unknown_field', name),
        ] as const,
    ),
    ['refuses two videos', post(V1, new Form(...fields, ['n', '2']), REFUSED), refused('invalid_request', 'n')],
    [
      'refuses a first frame of another media type',
      post(V1, new Form(...fields, ['input_reference', { ...frame, type: 'video/mp4' }]), REFUSED),
      refused('invalid_media', 'input_reference'),
    ],
    [
      'refuses an empty file',
      post(V1, new Form(...fields, ['input_reference', { ...frame, bytes: Buffer.alloc(0) }]), REFUSED),
      refused('invalid_media', 'input_reference'),
    ],
    [
      'refuses 16 seconds as JSON does',
      post(V1, new Form(['model', 'Alpha-H3'], ['prompt', 'x'], ['seconds', '16']), REFUSED),
      refused('invalid_duration', 'seconds'),
    ],
    [
      'refuses a source_task_id beside a base_video as JSON does',
      post(
        V1,
        new Form(['model', 'Alpha-H3'], ['source_task_id', UNKNOWN], ['content', JSON.stringify([base])]),
        REFUSED,
      ),
      refused('conflicting_source', 'source_task_id'),
    ],
    [
      'refuses a form without its boundary',
      post(V1, 'x', { ...REFUSED, headers: { 'content-type': 'multipart/form-data' } }),
      { status: 400, body: { error: { code: oneOf('invalid_request', 'invalid_form') } } },
    ],
    [
      'the official paths take no form',
      post(GENERATION, new Form(...fields), REFUSED),
      refusedV2('unsupported_media_type'),
    ],
    [
      'the flat path takes no form',
      post('/v1/video/generations', new Form(...fields), REFUSED),
      refused('unsupported_media_type'),
    ],
  ]),
];

export const routingRows: readonly Row[] = [...chosen, ...conflicts, ...fixed, ...forms];
