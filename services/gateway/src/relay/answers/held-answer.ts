import type { AnswerBody, AnswerContext, Progress } from './answer-body.ts';
import { reportsFault } from './event-data.ts';
import { newPassedAnswer } from './passed-answer.ts';
import { readUsage } from './usage-in-bytes.ts';
import { scrubError } from './scrub-error.ts';

/** A longer answer is not held; it passes as it arrives. */
const HELD_BYTES_MAX = 1024 * 1024;

/** A JSON answer, held until it is complete: the client gets all of it or a refusal. */
export function newHeldAnswer(context: AnswerContext): AnswerBody {
  const chunks: Buffer[] = [];
  let bytes = 0;
  let whole: Progress | undefined;
  let passed: AnswerBody | undefined =
    Number(context.contentLength) > HELD_BYTES_MAX ? newPassedAnswer(context, true) : undefined;
  return {
    take: (chunk) => {
      if (passed !== undefined) {
        passed.take(chunk);
        return;
      }
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes <= HELD_BYTES_MAX) return;
      passed = newPassedAnswer(context, true);
      for (const held of chunks.splice(0)) passed.take(held);
    },
    end: (trailers) => {
      if (passed !== undefined) {
        passed.end(trailers);
        return;
      }
      const [first] = chunks;
      const answer = chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks);
      whole = { begun: true, textBytes: answer.length, usage: readUsage(answer, context.call) };
      const told = reportsFault(answer) ? (scrubError(answer, context.identities) ?? answer) : answer;
      const hidden = context.hides ? context.hider.hide(told) : told;
      context.sink.begin(context.status, { ...context.headers, 'content-length': String(hidden.length) });
      context.sink.end(hidden, trailers);
    },
    broken: (fault) => passed?.broken(fault),
    beat: () => undefined,
    progress: () => passed?.progress() ?? whole ?? { begun: false, textBytes: 0, usage: undefined },
  };
}
