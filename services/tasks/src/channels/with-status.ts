import type { Submission } from './channel.ts';
import type { UpstreamAnswer } from './upstream-http.ts';

/** A submission with the HTTP status of its answer, if an answer came. */
export function withStatus(answer: UpstreamAnswer, submission: Submission): Submission {
  return answer.kind === 'answer' ? { ...submission, status: answer.status } : submission;
}
