import { refusedV2 } from '../engine/refused.ts';
import { post, table } from '../engine/row.ts';
import type { Row } from '../engine/row.ts';
import {
  ASTRAL,
  CONTEXT_IR,
  REGENERATION,
  UNKNOWN,
  byTask,
  byVideo,
  contextIr,
  generation,
  image,
  text,
  video,
  without,
} from './bodies.ts';

const REGEN = 'Official regeneration';
const IR = 'Context-IR';
const REFUSED = { as: 'refusals' } as const;
const NAMED = '{{media}}/refused.mp4';

const regenerationRefused = table(REGEN, [
  [
    'refuses a body without a model',
    post(REGENERATION, without(byTask(), 'model'), REFUSED),
    refusedV2('missing_model', 'model'),
  ],
  [
    'refuses another model',
    post(REGENERATION, byTask({ model: 'Beta-V1' }), REFUSED),
    refusedV2('invalid_request', 'model'),
  ],
  [
    'refuses the model in small letters',
    post(REGENERATION, byTask({ model: 'alpha-h3' }), REFUSED),
    refusedV2('invalid_request', 'model'),
  ],
  [
    "refuses the vendor's own name of the model",
    post(REGENERATION, byTask({ model: 'MiniMax-H3' }), REFUSED),
    refusedV2('invalid_request', 'model'),
  ],
  [
    'refuses a model with a space behind it',
    post(REGENERATION, byTask({ model: 'Alpha-H3 ' }), REFUSED),
    refusedV2('invalid_request', 'model'),
  ],
  [
    'refuses a body without a resolution',
    post(REGENERATION, without(byTask(), 'resolution'), REFUSED),
    refusedV2('invalid_resolution', 'resolution'),
  ],
  [
    'refuses resolution 768P',
    post(REGENERATION, byTask({ resolution: '768P' }), REFUSED),
    refusedV2('invalid_resolution', 'resolution'),
  ],
  [
    'refuses resolution 2k in small letters',
    post(REGENERATION, byTask({ resolution: '2k' }), REFUSED),
    refusedV2('invalid_resolution', 'resolution'),
  ],
  [
    'refuses resolution 4K',
    post(REGENERATION, byTask({ resolution: '4K' }), REFUSED),
    refusedV2('invalid_resolution', 'resolution'),
  ],
  [
    'refuses a resolution that is not text',
    post(REGENERATION, byTask({ resolution: 2 }), REFUSED),
    refusedV2('invalid_resolution', 'resolution'),
  ],
  [
    'refuses a body without an input mode',
    post(REGENERATION, without(byTask(), 'source_task_id'), REFUSED),
    refusedV2('invalid_request', 'source_task_id'),
  ],
  [
    'refuses an empty source_task_id as no input mode',
    post(REGENERATION, byTask({ source_task_id: '' }), REFUSED),
    refusedV2('invalid_request', 'source_task_id'),
  ],
  [
    'refuses a source_task_id that is not text',
    post(REGENERATION, byTask({ source_task_id: 7 }), REFUSED),
    refusedV2('invalid_request', 'source_task_id'),
  ],
  [
    'refuses text only as no input mode',
    post(REGENERATION, byVideo({ content: [text()] }), REFUSED),
    refusedV2('invalid_request', 'source_task_id'),
  ],
  [
    'refuses a reference video as no input mode',
    post(REGENERATION, byVideo({ content: [text(), video('reference_video', NAMED)] }), REFUSED),
    refusedV2('invalid_request', 'source_task_id'),
  ],
  [
    'refuses both input modes',
    post(REGENERATION, byTask({ content: [text(), video('base_video', NAMED)] }), REFUSED),
    refusedV2('conflicting_source', 'source_task_id'),
  ],
  [
    'refuses a source task beside content',
    post(REGENERATION, byTask({ content: [text()] }), REFUSED),
    refusedV2('conflicting_source', 'source_task_id'),
  ],
  [
    'refuses two base videos',
    post(REGENERATION, byVideo({ content: [text(), video('base_video', NAMED), video('base_video', NAMED)] }), REFUSED),
    refusedV2('conflicting_source', 'content'),
  ],
  [
    'refuses an empty base video',
    post(REGENERATION, byVideo({ content: [text(), video('base_video', '')] }), REFUSED),
    refusedV2('invalid_content', 'content[1].video_url'),
  ],
  [
    'refuses an image as its base video',
    post(REGENERATION, byVideo({ content: [text(), image('base_video', NAMED)] }), REFUSED),
    refusedV2('invalid_content', 'content[1].role'),
  ],
  [
    'refuses a base video without the final prompt',
    post(REGENERATION, byVideo({ content: [video('base_video', NAMED)] }), REFUSED),
    refusedV2('invalid_content', 'content'),
  ],
  [
    'refuses a final prompt of 40001 code points',
    post(REGENERATION, byVideo({ content: [text('x'.repeat(40_001)), video('base_video', NAMED)] }), REFUSED),
    refusedV2('invalid_content', 'content[0].text'),
  ],
  [
    'refuses a final prompt of 40001 code points that are two units each',
    post(REGENERATION, byVideo({ content: [text(ASTRAL.repeat(40_001)), video('base_video', NAMED)] }), REFUSED),
    refusedV2('invalid_content', 'content[0].text'),
  ],
  [
    'refuses a watermark that is neither true nor false',
    post(REGENERATION, byTask({ aigc_watermark: 'yes' }), REFUSED),
    refusedV2('invalid_request', 'aigc_watermark'),
  ],
  ...['prompt', 'duration', 'ratio', 'seconds', 'size', 'action', 'callback_url', 'metadata', 'anything'].map(
    (field) =>
      [
        `refuses ${field}: it is no field here`,
        post(REGENERATION, byTask({ [field]: 'x' }), REFUSED),
        refusedV2('unknown_field', field),
      ] as const,
  ),
  ['refuses a body shaped for generation', post(REGENERATION, generation(), REFUSED), refusedV2('unknown_field')],
  [
    'refuses an unknown source task with 404',
    post(REGENERATION, byTask()),
    refusedV2('task_not_found', 'source_task_id'),
  ],
  [
    'refuses an invalid task id with 404',
    post(REGENERATION, byTask({ source_task_id: '424010985738629' })),
    refusedV2('task_not_found', 'source_task_id'),
  ],
]);

const contextIrRefused = table(IR, [
  [
    'refuses a body without a model',
    post(CONTEXT_IR, without(contextIr(), 'model'), REFUSED),
    refusedV2('missing_model', 'model'),
  ],
  [
    'refuses another model',
    post(CONTEXT_IR, contextIr({ model: 'Beta-V1' }), REFUSED),
    refusedV2('invalid_request', 'model'),
  ],
  [
    'refuses the model in small letters',
    post(CONTEXT_IR, contextIr({ model: 'alpha-h3' }), REFUSED),
    refusedV2('invalid_request', 'model'),
  ],
  [
    "refuses the vendor's own name of the model",
    post(CONTEXT_IR, contextIr({ model: 'MiniMax-H3' }), REFUSED),
    refusedV2('invalid_request', 'model'),
  ],
  [
    'refuses a body without content',
    post(CONTEXT_IR, without(contextIr(), 'content'), REFUSED),
    refusedV2('invalid_content', 'content'),
  ],
  [
    'refuses a body without a duration',
    post(CONTEXT_IR, without(contextIr(), 'duration'), REFUSED),
    refusedV2('invalid_duration', 'duration'),
  ],
  [
    'refuses a duration of 3',
    post(CONTEXT_IR, contextIr({ duration: 3 }), REFUSED),
    refusedV2('invalid_duration', 'duration'),
  ],
  [
    'refuses a duration of 16',
    post(CONTEXT_IR, contextIr({ duration: 16 }), REFUSED),
    refusedV2('invalid_duration', 'duration'),
  ],
  [
    'refuses a duration as text',
    post(CONTEXT_IR, contextIr({ duration: '5' }), REFUSED),
    refusedV2('invalid_duration', 'duration'),
  ],
  [
    'refuses a duration with a fraction',
    post(CONTEXT_IR, contextIr({ duration: 5.5 }), REFUSED),
    refusedV2('invalid_duration', 'duration'),
  ],
  [
    'refuses text only without a ratio',
    post(CONTEXT_IR, without(contextIr(), 'ratio'), REFUSED),
    refusedV2('invalid_ratio', 'ratio'),
  ],
  [
    'refuses text only with the ratio adaptive',
    post(CONTEXT_IR, contextIr({ ratio: 'adaptive' }), REFUSED),
    refusedV2('invalid_ratio', 'ratio'),
  ],
  [
    'refuses text only with an unknown ratio',
    post(CONTEXT_IR, contextIr({ ratio: '2:1' }), REFUSED),
    refusedV2('invalid_ratio', 'ratio'),
  ],
  [
    'refuses a frame with an unknown ratio',
    post(CONTEXT_IR, contextIr({ content: [text(), image('first_frame', NAMED)], ratio: '2:1' }), REFUSED),
    refusedV2('invalid_ratio', 'ratio'),
  ],
  [
    'refuses a callback_url that is not text',
    post(CONTEXT_IR, contextIr({ callback_url: 7 }), REFUSED),
    refusedV2('invalid_request', 'callback_url'),
  ],
  ...[
    'resolution',
    'aigc_watermark',
    'prompt',
    'action',
    'source_task_id',
    'metadata',
    'seconds',
    'size',
    'task_id',
    'task_type',
    'type',
    'anything',
    'seed',
    'n',
  ].map(
    (field) =>
      [
        `refuses ${field}: it is no field here`,
        post(CONTEXT_IR, contextIr({ [field]: 'x' }), REFUSED),
        refusedV2('unknown_field', field),
      ] as const,
  ),
  [
    'refuses a field of null that is none here',
    post(CONTEXT_IR, contextIr({ resolution: null }), REFUSED),
    refusedV2('unknown_field', 'resolution'),
  ],
  [
    'refuses a body shaped for generation',
    post(CONTEXT_IR, generation(), REFUSED),
    refusedV2('unknown_field', 'resolution'),
  ],
  [
    'refuses a body shaped for regeneration',
    post(CONTEXT_IR, { model: 'Alpha-H3', resolution: '2K', source_task_id: UNKNOWN }, REFUSED),
    refusedV2('unknown_field'),
  ],
]);

/** The refusals of regeneration and context-IR. */
export const officialRefusalRows: readonly Row[] = [...regenerationRefused, ...contextIrRefused];
