import type { Topic } from '../../../console/api/stream.ts';
import { invalid } from '../../dialects/wire/body-validator.ts';

const TOPICS_MAX = 16;
const OF_TASK = /^task:[\w-]{1,64}$/;

/** The topics of a door, beside those of single tasks. */
export const CLIENT_TOPICS = ['tasks', 'webhooks'] as const satisfies readonly Topic[];
export const OPERATOR_TOPICS = ['now', 'attention', 'channels', 'tasks'] as const satisfies readonly Topic[];

/** The topics that a page wants to hear of. */
export function readTopics(query: URLSearchParams, known: readonly Topic[]): ReadonlySet<Topic> {
  const words = (query.get('topics') ?? '').split(',');
  const topics = new Set(
    words.filter((word): word is Topic => OF_TASK.test(word) || known.some((one) => one === word)),
  );
  if (words.every((word) => topics.has(word as Topic)) && topics.size <= TOPICS_MAX) return topics;
  throw invalid(
    'topics',
    `must be 1 to ${TOPICS_MAX} of ${known.join(', ')} and task:ID, separated by commas`,
    'invalid_request',
  );
}
