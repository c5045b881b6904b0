import { create } from '@bufbuild/protobuf';
import type { DescMethod, Message } from '@bufbuild/protobuf';
import { ProblemSchema } from '@reelgate/proto/problem/v1/problem';
import { waitForTicks } from '../batcher.ts';
import { inRequest, readRequestId } from '../request-context.ts';
import { toProblem, toWireProblem } from './problems.ts';
import { compileMeasure } from './message-size.ts';
import { MESSAGE_BYTES_MAX } from './service.ts';
import type { Binding } from './service.ts';

/** The maximum size of several outcomes in one message. A single outcome is as large as the answer of a single call. */
const OUTCOMES_BYTES_MAX = MESSAGE_BYTES_MAX / 2;
/** The bytes of an outcome in addition to its answer or its refusal. */
const OUTCOME_BYTES_MAX = 64;

/** A call of a list as its request contains it, with the values that a single call has as metadata. */
interface ListItem {
  readonly request?: Message;
  readonly requestId: string;
  readonly traceParent: string;
}

/** The end of a call of a list, as its outcome has it. */
interface CallEnd {
  readonly call: number;
  readonly result: { readonly case: 'answer' | 'refusal'; readonly value: Message };
}

/** A call of a list, as a call of its own would come. */
export interface ListedCall {
  readonly request: Message;
  readonly requestId: string;
  readonly carrier: string | undefined;
}

/** Returns the method for the calls in a list, or undefined if this method does not take a list. */
export function findListed({ service, lists = {} }: Binding, { localName }: DescMethod): DescMethod | undefined {
  const listed = lists[localName];
  return listed === undefined ? undefined : service.method[listed];
}

/**
 * Runs the calls of a list, each for itself. Yields the outcomes of one moment in one message, so that a slow call
 * delays no other.
 */
export async function* runList(
  { input, output }: DescMethod,
  list: object,
  run: (call: ListedCall) => Promise<Message>,
): AsyncGenerator<{ readonly outcomes: readonly object[] }> {
  const { calls } = list as { readonly calls: readonly ListItem[] };
  const measures = { answer: compileMeasure(output), refusal: compileMeasure(ProblemSchema) };
  const measure = ({ result }: CallEnd): number => measures[result.case](result.value);
  const ended: CallEnd[] = [];
  let wake = (): void => undefined;
  for (const [index, { request = create(input), requestId, traceParent }] of calls.entries()) {
    const call = { request, requestId: readRequestId(requestId), carrier: traceParent || undefined };
    void inRequest(call.requestId, () => run(call))
      .then(
        (value) => ({ case: 'answer', value }) as const,
        (thrown: unknown) => ({ case: 'refusal', value: toWireProblem(toProblem(thrown)) }) as const,
      )
      .then((result) => {
        ended.push({ call: index, result });
        wake();
      });
  }
  for (let left = calls.length; left > 0;) {
    if (ended.length === 0) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
      // Calls that share a transaction end together.
      await waitForTicks(1);
    }
    const outcomes = takeFirst(ended, measure);
    left -= outcomes.length;
    yield { outcomes };
  }
}

/** Takes at least one outcome, and of the others as many as one message has room for. */
function takeFirst(outcomes: CallEnd[], measure: (outcome: CallEnd) => number): readonly CallEnd[] {
  let bytes = 0;
  const over = outcomes.findIndex((outcome, index) => {
    bytes += OUTCOME_BYTES_MAX + measure(outcome);
    return index > 0 && bytes > OUTCOMES_BYTES_MAX;
  });
  return outcomes.splice(0, over === -1 ? outcomes.length : over);
}
