import { TaskState } from '@reelgate/proto/tasks/v1/task';
import type { Task } from '@reelgate/proto/tasks/v1/task';
import { readCost } from '../../domain/charge.ts';
import type { Charge } from '../../domain/charge.ts';
import type { Links } from '../dialect.ts';
import { objectSchema } from '../../domain/schema.ts';
import type { Draft, Schema, TypeOf } from '../../domain/schema.ts';
import { dropUndefined, encodeFailure, isFailed, toJsonNumber } from '../wire/task-fields.ts';

/** OpenRouter's costs are in this currency; in another one they would mislead. */
const COST_CURRENCY = 'USD';
const CANCELLED = 'cancelled';

/** OpenRouter's words for the states. */
const STATUS: Readonly<Record<TaskState, string>> = {
  [TaskState.UNSPECIFIED]: 'pending',
  [TaskState.QUEUED]: 'pending',
  [TaskState.IN_PROGRESS]: 'in_progress',
  [TaskState.COMPLETED]: 'completed',
  [TaskState.FAILED]: 'failed',
};

const id = { type: 'string' } as const;
const pollingUrl = { type: 'string', description: 'The address of the read, with scheme and host.' } as const;

export const createdSchema = {
  title: 'OpenRouterVideoAccepted',
  ...objectSchema({ id, polling_url: pollingUrl, status: { const: 'pending' } }),
} as const;

export const videoSchema = {
  title: 'OpenRouterVideo',
  type: 'object',
  required: ['id', 'polling_url', 'status'],
  additionalProperties: false,
  properties: {
    id,
    polling_url: pollingUrl,
    status: {
      type: 'string',
      description:
        'pending, in_progress, completed, failed or cancelled. ' +
        'Any other value is a status of the generator, unchanged, and is not final.',
      examples: ['pending', 'in_progress', 'completed', 'failed', 'cancelled'],
    },
    error: { type: 'string', description: 'Why the task failed.' },
    unsigned_urls: {
      type: 'array',
      items: { type: 'string' },
      maxItems: 1,
      description: 'The link of the video. It needs no token, and may be asked with one.',
    },
    usage: {
      title: 'OpenRouterVideoUsage',
      type: 'object',
      required: ['cost', 'is_byok'],
      additionalProperties: false,
      description: 'Once the charge is known, and only for accounts in US dollars.',
      properties: { cost: { type: 'number', minimum: 0, description: 'US dollars.' }, is_byok: { const: false } },
    },
  },
} as const satisfies Schema;

type OpenRouterVideo = TypeOf<typeof videoSchema>;

/** Leaves out the state, because a repeated create has the same answer. */
export function encodeCreated(task: Task, links: Links): TypeOf<typeof createdSchema> {
  return { id: task.id, polling_url: toPollingUrl(task, links), status: 'pending' };
}

export function encodeVideo(task: Task, links: Links, charge?: Charge): OpenRouterVideo {
  const url = links.toVideoUrl(task);
  return dropUndefined({
    id: task.id,
    polling_url: toPollingUrl(task, links),
    status: toStatus(task),
    error: encodeFailure(task)?.message,
    unsigned_urls: url === undefined ? undefined : [url],
    usage: charge && encodeUsage(charge),
  } satisfies Draft<OpenRouterVideo>);
}

/** Clients call this address as it is, so it is whole. */
function toPollingUrl({ id: taskId }: Task, links: Links): string {
  return links.toAddress(`/api/v1/videos/${taskId}`);
}

function toStatus(task: Task): string {
  if (task.unrecognisedStatus !== '') return task.unrecognisedStatus;
  return isFailed(task) && task.failure?.code === CANCELLED ? CANCELLED : STATUS[task.state];
}

function encodeUsage(charge: Charge): OpenRouterVideo['usage'] | undefined {
  const cost = readCost(charge);
  if (cost === undefined || charge.currency !== COST_CURRENCY) return undefined;
  return { cost: toJsonNumber(cost), is_byok: false };
}
