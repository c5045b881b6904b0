import { create, fromBinary, toBinary, toJsonString } from '@bufbuild/protobuf';
import type { DescMessage, DescMethodUnary, Message, MessageInitShape, MessageShape } from '@bufbuild/protobuf';
import { inRequest } from '@reelgate/platform/request-context';
import { TaskState } from '@reelgate/proto/tasks/v1/task';
import type { Task } from '@reelgate/proto/tasks/v1/task';
import type { SeenTask } from './dialects.ts';
import { LostAnswer } from './simulated-http.ts';
import { toRequestId } from './world.ts';
import type { World } from './world.ts';

const SHOWN_MAX = 160;

/** What a call of the tasks service was answered with. */
export interface RpcAnswer<M> {
  /** The status that the same refusal has at the public port; 200 for a message. */
  readonly status: number;
  /** The message as JSON, or the reason and the text of the refusal. */
  readonly text: string;
  /** Undefined if the call was refused. */
  readonly message: M | undefined;
}

/** The statuses of the kinds of refusals at the public port, so that callers of both kinds are judged alike. */
const STATUSES: Readonly<Record<string, number>> = {
  invalid: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  exhausted: 429,
  unprocessable: 422,
  gone: 410,
  unavailable: 503,
};
const INTERNAL = 500;

/** A refusal as its caller reads it. */
export interface RpcRefusal {
  readonly kind: string;
  readonly reason: string;
  readonly message: string;
}

export interface RpcOptions {
  /** The caller leaves after this time. */
  readonly leaveAfterMs?: number | undefined;
}

/**
 * Calls a method of the tasks service and writes what came of it. The request and the answer are bytes on their way.
 * Undefined: no answer came, because the process died or the caller left.
 */
export async function callTasks<I extends DescMessage, O extends DescMessage>(
  world: World,
  name: string,
  { method, request }: { readonly method: DescMethodUnary<I, O>; readonly request: MessageInitShape<I> },
  { leaveAfterMs }: RpcOptions = {},
): Promise<RpcAnswer<MessageShape<O>> | undefined> {
  const { machine, events, scheduler, rules } = world;
  const requestId = toRequestId(name);
  const sentAt = scheduler.now();
  const sent = toBinary(method.input, create(method.input, request));
  const gone = new AbortController();
  const note = (text: string): void => {
    events.write(scheduler.now(), 'client', `${name}: ${method.name} ${text}`);
  };
  const run = async (send: UnaryCall): Promise<Uint8Array> => {
    if (leaveAfterMs !== undefined)
      scheduler.after(leaveAfterMs, scheduler.current(), () => {
        gone.abort();
      });
    const message = fromBinary(method.input, sent);
    const answer = await inRequest(requestId, () => send(message, { signal: gone.signal, requestId }));
    return toBinary(method.output, create(method.output, answer as MessageInitShape<O>));
  };
  const judge = (answer: RpcAnswer<MessageShape<O>>): RpcAnswer<MessageShape<O>> => {
    note(`is answered ${answer.status} ${answer.text.slice(0, SHOWN_MAX)}`);
    rules.answered({ method: 'call', path: method.name, key: '' }, { ...answer, headers: {}, process: '' }, sentAt);
    return answer;
  };
  try {
    const bytes = await machine.call(
      ({ tasks }) => run((tasks as unknown as Readonly<Record<string, UnaryCall>>)[method.localName]!),
      requestId,
    );
    const message = fromBinary(method.output, bytes);
    return judge({ status: 200, text: toJsonString(method.output, message), message });
  } catch (error) {
    if (error instanceof LostAnswer || gone.signal.aborted) {
      note('has no answer');
      return undefined;
    }
    const { kind, reason, message } = readRefusal(error);
    return judge({ status: STATUSES[kind] ?? INTERNAL, text: `${reason} ${message}`, message: undefined });
  }
}

type UnaryCall = (
  request: Message,
  options: { readonly signal: AbortSignal; readonly requestId: string },
) => Promise<unknown>;

/** Throws what is no refusal: the simulation itself has failed. */
export function readRefusal(error: unknown): RpcRefusal {
  const { kind, reason, message } = error as Partial<RpcRefusal>;
  if (kind === undefined || reason === undefined || message === undefined) throw error;
  return { kind, reason, message };
}

const STATES: Readonly<Record<TaskState, string>> = {
  [TaskState.UNSPECIFIED]: 'unspecified',
  [TaskState.QUEUED]: 'queued',
  [TaskState.IN_PROGRESS]: 'in_progress',
  [TaskState.COMPLETED]: 'completed',
  [TaskState.FAILED]: 'failed',
};

/** Reads a task of the contract with the words of the other clients. */
export function readWireTask({ id, state, unrecognisedStatus, failure, label }: Task): SeenTask {
  const error = failure === undefined ? '' : `${failure.code} ${failure.message}`;
  return {
    id,
    status: unrecognisedStatus === '' ? STATES[state] : unrecognisedStatus,
    error,
    label,
    charged: undefined,
  };
}
