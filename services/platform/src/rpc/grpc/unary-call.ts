import { Metadata, status } from '@grpc/grpc-js';
import type { Client, ServiceError, StatusObject } from '@grpc/grpc-js';

export interface UnaryCall {
  readonly path: string;
  readonly request: Buffer;
  readonly deserialize: (bytes: Buffer) => unknown;
  readonly metadata: Metadata;
  /** Milliseconds since 1970, undefined without a deadline. */
  readonly deadline?: number;
}

export type UnaryDone = (error: ServiceError | null, answer?: unknown) => void;

export interface RunningUnaryCall {
  cancel(): void;
}

/**
 * Sends a call of one request and one answer on the connection of a client. The client's own method adds layers for
 * interceptors, an emitter and a stack to each call, which are not used here: they took 35 of 160 µs in the calling
 * process. It calls `done` once.
 */
export function beginUnaryCall(
  client: Client,
  { path, request, deserialize, metadata, deadline = Infinity }: UnaryCall,
  done: UnaryDone,
): RunningUnaryCall {
  const call = client.getChannel().createCall(path, deadline, undefined, null, undefined);
  let answer: { readonly message: unknown } | undefined;
  let fault: StatusObject | undefined;
  let isOver = false;
  const giveUp = (code: status, details: string): void => {
    fault = { code, details, metadata: new Metadata() };
    call.cancelWithStatus(code, details);
  };
  call.start(metadata, {
    onReceiveMetadata: () => undefined,
    onReceiveMessage: (bytes: Buffer | null) => {
      if (bytes === null || fault !== undefined) return;
      if (answer !== undefined) {
        giveUp(status.UNIMPLEMENTED, 'too many answers received');
        return;
      }
      try {
        answer = { message: deserialize(bytes) };
      } catch (error) {
        giveUp(status.INTERNAL, `the answer cannot be read: ${String(error)}`);
      }
    },
    onReceiveStatus: (received) => {
      if (isOver) return;
      isOver = true;
      const ended = fault ?? received;
      if (ended.code !== status.OK) done(toServiceError(ended));
      else if (answer === undefined)
        done(toServiceError({ ...ended, code: status.UNIMPLEMENTED, details: 'no answer received' }));
      else done(null, answer.message);
    },
  });
  call.startRead();
  call.sendMessageWithContext({}, request);
  call.halfClose();
  return {
    cancel: () => call.cancelWithStatus(status.CANCELLED, 'cancelled by the caller'),
  };
}

function toServiceError({ code, details, metadata }: StatusObject): ServiceError {
  return Object.assign(new Error(`${code} ${status[code]}: ${details}`), { code, details, metadata });
}
