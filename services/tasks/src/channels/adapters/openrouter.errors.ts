import type { ApiError, ErrorTable } from '@reelgate/adapter-kit/kit';
import { readId, readList, readObject, readText } from '@reelgate/adapter-kit/kit';

const CONTENT = 'content_policy_violation';

/** A callback URL is always one of this service. One that the upstream does not take is no fault of the order. */
export const OPENROUTER_ERRORS: ErrorTable = {
  codes: { [CONTENT]: 'content' },
  patterns: [[/callback_url/i, 'channel', 'message']],
};

/** The words by which the text of a failed video says that its content was refused. It has no code. */
export const CONTENT_WORDS = /\b(content polic|moderation|safety)/i;

/** The code of an error is its HTTP status again. A 403 with reasons comes from the moderation. */
export function readError(body: unknown): ApiError | undefined {
  const error = readObject(readObject(body)['error']);
  const message = readText(error['message']);
  if (message === undefined) return undefined;
  const { reasons, error_type: type } = readObject(error['metadata']);
  const isModerated = readId(error['code']) === '403' && readList(reasons).length > 0;
  return { code: isModerated ? CONTENT : (readText(type) ?? readId(error['code'])), message };
}
