import type { IncomingHttpHeaders } from 'node:http';
import { deriveValues } from '@reelgate/platform/rpc/enum-words';
import { WebhookPayload } from '@reelgate/proto/tasks/v1/webhook';
import { EVENT_TYPES } from '../clients/webhooks-client.ts';
import type { QueryParameter } from '../dialects/dialect.ts';
import { invalid } from '../dialects/wire/body-validator.ts';
import { readEnumValue } from '../dialects/wire/query-values.ts';
import { PLAUSIBLE_ID } from '../http/routes/task-id.ts';

const PAYLOADS = deriveValues(WebhookPayload);
const HEADER = 'Last-Event-ID';
const PARAMETER = 'last_event_id';
const ID_PATTERN = '^[A-Za-z0-9_-]{0,64}$';

export const STREAM_PARAMETERS: readonly QueryParameter[] = [
  {
    name: 'types',
    description: `Only events of these types, separated by commas: ${EVENT_TYPES.join(', ')}.`,
    schema: {
      type: 'string',
      pattern: `^((${EVENT_TYPES.join('|').replaceAll('.', '\\.')})(,(?!$)|$))*$`,
      examples: ['video.completed,video.failed'],
    },
  },
  {
    name: 'task_id',
    description: 'Only events about this task or asynchronous call.',
    schema: { type: 'string', pattern: ID_PATTERN },
  },
  {
    name: 'payload',
    description:
      'thin: the id of the task or call. full: also the task or call, as a status read answers, without the charge.',
    schema: { enum: ['thin', 'full', ''], default: 'thin' },
  },
  {
    name: PARAMETER,
    description: 'As the header Last-Event-ID, which overrides it.',
    schema: { type: 'string', pattern: ID_PATTERN },
  },
];

/** The events that a client asks for, and the start of its stream. */
export interface StreamQuery {
  readonly types: string[];
  /** The task or the job of the events, empty if all match. */
  readonly subjectId: string;
  readonly payload: WebhookPayload;
  /** The cursor at which its last stream ended; undefined if the stream begins now. */
  readonly cursor: string | undefined;
  /** The header or the parameter in which the client sent the cursor. */
  readonly cursorField: string;
}

export function readStreamQuery(query: URLSearchParams, headers: IncomingHttpHeaders): StreamQuery {
  const header = readId(headers['last-event-id'], HEADER, 'must be the id of an event of this stream');
  return {
    types: readTypes(query.get('types')),
    subjectId: readId(query.get('task_id'), 'task_id', 'must be the id of a task or an asynchronous call') ?? '',
    payload: readEnumValue(query, 'payload', PAYLOADS) ?? WebhookPayload.THIN,
    cursor: header ?? readId(query.get(PARAMETER), PARAMETER, 'must be the id of an event of this stream'),
    cursorField: header === undefined ? PARAMETER : HEADER,
  };
}

function readTypes(text: string | null): string[] {
  if (text === null || text === '') return [];
  const types = [...new Set(text.split(','))];
  if (types.every((type) => EVENT_TYPES.includes(type))) return types;
  throw invalid('types', `must be some of ${EVENT_TYPES.join(', ')}, separated by commas`, 'invalid_request');
}

function readId(value: string | readonly string[] | null | undefined, field: string, rule: string): string | undefined {
  if (value === null || value === undefined || value === '') return undefined;
  if (typeof value === 'string' && PLAUSIBLE_ID.test(value)) return value;
  throw invalid(field, rule, 'invalid_request');
}
