import { json, type Answer } from '../http/answer.ts';
import { refusedOnceMax } from '../limits.ts';
import { refusalBy } from '../refusal.ts';
import type { SandboxParts } from '../sandbox-parts.ts';
import type { CreateAnswer } from '../steering/script.ts';

/** The answer of a create that makes no task; undefined if the create makes one. */
export function earlyAnswer(answer: CreateAnswer, text: string, { refusedOnce }: SandboxParts): Answer | undefined {
  if (answer.as === 'page') return answer;
  if (answer.as === 'no_id') return json({});
  if (answer.as === 'base_resp')
    return json({
      base_resp: { status_code: answer.number, status_msg: refusalBy(answer.number)?.message ?? 'internal error' },
    });
  if (answer.as === 'refusal') refuse(answer.number);
  if (answer.as === 'refusal_once' && !refusedOnce.has(text)) {
    if (refusedOnce.size >= refusedOnceMax) refusedOnce.clear();
    refusedOnce.add(text);
    refuse(answer.number);
  }
  return undefined;
}

function refuse(number: number): void {
  const refusal = refusalBy(number);
  if (refusal) throw refusal;
}
