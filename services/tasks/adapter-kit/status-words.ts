import type { Reports } from './kit.ts';

/** The class of a status word. */
type WordClass = 'waiting' | 'working' | 'finished' | 'broken' | 'cancelled' | 'expired';

/**
 * The words for the four states, and for two kinds of failure, at servers that copy an API and pass on the words of what
 * is behind them. Sources: new-api (relay/channel/task/sora, the words that it reads of other servers of this API, and
 * model/task), LiteLLM 1.109.1 (llms/*\/videos), the clients of fal, Runway, Replicate, Kling, Novita and MiniMax, and
 * queues that wrappers are built on (ComfyUI, Celery). A word that can mean something else, such as `unknown` or
 * `deleted`, is not here.
 */
const WORDS: Readonly<Record<WordClass, readonly string[]>> = {
  waiting: [
    ...['queued', 'queueing', 'queuing', 'in_queue', 'enqueued', 'pending', 'waiting', 'submitted', 'created'],
    ...['accepted', 'received', 'preparing', 'starting', 'not_start', 'not_started', 'notstarted', 'throttled'],
  ],
  working: [...['in_progress', 'inprogress', 'processing', 'running', 'generating', 'rendering', 'working', 'started']],
  finished: ['completed', 'complete', 'succeeded', 'succeed', 'success', 'successful', 'finished', 'done', 'ready'],
  broken: [
    ...['failed', 'failure', 'fail', 'error', 'errored', 'rejected', 'moderated', 'content_moderated', 'aborted'],
    ...['request_moderated', 'content_filtered', 'blocked'],
  ],
  cancelled: ['cancelled', 'canceled', 'revoked'],
  expired: ['expired', 'timeout', 'timed_out'],
};

/** Reports for those words, in the form that `toPlainWord` gives them. */
export function toReportsOfWords(of: Readonly<Record<WordClass, Reports[string]>>): Reports {
  return Object.fromEntries(
    Object.entries(WORDS).flatMap(([wordClass, words]) =>
      words.map((word) => [word, of[wordClass as WordClass]] as const),
    ),
  );
}

/** A word without regard to case, to the marks between its parts, and to the name of its enumeration before it. */
export function toPlainWord(status: string): string {
  const plain = status
    .trim()
    .toLowerCase()
    .replaceAll(/[\s.-]+/g, '_');
  return plain.replace(/^(?:task_|job_|video_|generation_)?(?:status|state)_/, '');
}
