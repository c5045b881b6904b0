import { refused, refusedV2 } from '../engine/refused.ts';
import type { Code } from '../engine/refused.ts';
import { post, table } from '../engine/row.ts';
import type { Row } from '../engine/row.ts';
import {
  CONTEXT_IR,
  GENERATION,
  GENERATIONS,
  REGENERATION,
  V1,
  byTask,
  compat,
  contextIr,
  generation,
  generations,
} from './bodies.ts';

type Type = 'text' | 'whole number' | 'list' | 'true or false';

/** A value of each JSON type. In the strict bodies null is a type too. */
const VALUES: readonly (readonly [name: string, value: unknown, types: readonly Type[]])[] = [
  ['a text', 'x', ['text']],
  ['a number', 7, ['whole number']],
  ['a fraction', 7.5, []],
  ['true', true, ['true or false']],
  ['a list', [], ['list']],
  ['an object', {}, []],
];
const NULL = ['null', null, []] as const;

interface Wrong {
  readonly section: string;
  readonly path: string;
  readonly body: (over: object) => object;
  readonly refuse: typeof refusedV2;
  readonly isStrict: boolean;
  readonly fields: Readonly<Record<string, readonly [Code, ...types: Type[]]>>;
}

const FRAME = {
  model: ['missing_model', 'text'],
  content: ['invalid_content', 'list'],
  ratio: ['invalid_ratio', 'text'],
} as const;
const BODIES: readonly Wrong[] = [
  {
    section: 'Compatibility create',
    path: V1,
    body: compat,
    refuse: refused,
    isStrict: false,
    fields: {
      ...FRAME,
      prompt: ['invalid_content', 'text'],
      seconds: ['invalid_duration', 'text', 'whole number'],
      size: ['invalid_request', 'text'],
      source_task_id: ['invalid_request', 'text'],
      action: ['invalid_action', 'text'],
      resolution: ['invalid_resolution', 'text'],
    },
  },
  {
    section: 'Flat create',
    path: GENERATIONS,
    body: generations,
    refuse: refused,
    isStrict: false,
    fields: {
      ...FRAME,
      prompt: ['invalid_content', 'text'],
      duration: ['invalid_duration', 'text', 'whole number'],
      size: ['invalid_request', 'text'],
      image: ['invalid_content', 'text'],
      images: ['invalid_content', 'list'],
      width: ['invalid_request', 'whole number'],
      resolution: ['invalid_resolution', 'text'],
    },
  },
  {
    section: 'Official generation',
    path: GENERATION,
    body: generation,
    refuse: refusedV2,
    isStrict: true,
    fields: { ...FRAME, duration: ['invalid_duration', 'whole number'], resolution: ['invalid_resolution', 'text'] },
  },
  {
    section: 'Official regeneration',
    path: REGENERATION,
    body: byTask,
    refuse: refusedV2,
    isStrict: true,
    fields: {
      model: FRAME.model,
      content: FRAME.content,
      resolution: ['invalid_resolution', 'text'],
      source_task_id: ['invalid_request', 'text'],
      aigc_watermark: ['invalid_request', 'true or false'],
    },
  },
  {
    section: 'Context-IR',
    path: CONTEXT_IR,
    body: contextIr,
    refuse: refusedV2,
    isStrict: true,
    fields: { ...FRAME, duration: ['invalid_duration', 'whole number'], callback_url: ['invalid_request', 'text'] },
  },
];

/** Each field of each create with a value of each type that it does not accept. */
export const wrongValueRows: readonly Row[] = BODIES.flatMap(({ section, path, body, refuse, isStrict, fields }) =>
  table(
    section,
    Object.entries(fields).flatMap(([field, [code, ...taken]]) =>
      [...VALUES, ...(isStrict ? [NULL] : [])]
        .filter(([, , types]) => !types.some((type) => taken.includes(type)))
        .map(([name, value]) => [
          `${field} is not ${name}`,
          post(path, body({ [field]: value }), { as: 'refusals' }),
          refuse(code, field),
        ]),
    ),
  ),
);
