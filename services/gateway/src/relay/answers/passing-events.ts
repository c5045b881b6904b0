import { countTextBytes } from '../../json-bytes/count-text.ts';
import { withoutMember } from '../../json-bytes/edit-members.ts';
import type { Usage } from '../protocols/protocol.ts';
import { buildUsageRequest } from '../requests/upstream-request.ts';
import type { AnswerContext, Progress } from './answer-body.ts';
import { editData, parseEvent, scrubFrame } from './event-data.ts';
import { longEvent, mentionsUsage } from './long-event.ts';

/**
 * The events of a stream on their way to the client. It reads their usage, and removes what only the gateway asked for
 * and what identifies the upstream.
 */
export interface PassingEvents {
  /** Takes a complete event with its framing. */
  readonly onEvent: (event: Buffer) => void;
  /** Takes a piece of an event that is too long to be held. */
  readonly onPiece: (piece: Buffer, endsEvent: boolean) => void;
  /** Takes bytes that pass unchanged. */
  readonly pass: (bytes: Buffer) => void;
  /** Returns all bytes that can be sent now; undefined if there are none. */
  readonly ready: () => Buffer | undefined;
  /** Returns the same, with the held bytes of a long event that never ended. */
  readonly rest: () => Buffer | undefined;
  readonly progress: () => Progress;
}

export function passingEvents({ call, hider, hides, identities }: AnswerContext): PassingEvents {
  const { protocol } = call.endpoint;
  const rules = protocol.stream;
  const asked = buildUsageRequest(call)?.name !== undefined;
  const long = longEvent(protocol, hides ? hider : undefined);
  let usage: Usage | undefined;
  let textBytes = 0;
  let out: Buffer[] = [];
  const ready = (): Buffer | undefined => {
    const [first] = out;
    const whole = out.length > 1 ? Buffer.concat(out) : first;
    out = [];
    return whole === undefined || whole.length === 0 ? undefined : whole;
  };
  return {
    onEvent: (raw) => {
      for (const name of rules.textNames) textBytes += countTextBytes(raw, name);
      const event = mentionsUsage(raw, rules) ? parseEvent(raw) : undefined;
      if (event !== undefined) usage = rules.usageAfter(event, usage);
      if (event !== undefined && asked && rules.isOnlyUsage?.(event) === true) return;
      const shown = event !== undefined && asked ? editData(raw, (data) => withoutMember(data, 'usage')) : raw;
      const told = scrubFrame(shown, identities);
      out.push(hides ? hider.hide(told) : told);
    },
    onPiece: (piece, endsEvent) => {
      out.push(long.take(piece, endsEvent));
      if (endsEvent) usage = long.usageAfter(usage);
    },
    pass: (bytes) => void out.push(bytes),
    ready,
    rest: () => {
      out.push(long.rest());
      return ready();
    },
    progress: () => ({ begun: true, usage, textBytes }),
  };
}
