import type { ModelHider } from '../../json-bytes/hide-model.ts';
import type { Protocol, StreamRules, Usage } from '../protocols/protocol.ts';
import { hideInPieces } from '../../json-bytes/hide-in-pieces.ts';
import { keepLastBytes } from './passed-answer.ts';
import { findUsageHolders } from './usage-in-bytes.ts';

const NOTHING: Buffer = Buffer.alloc(0);

/** An event that is too long to be held. It passes in pieces; its model is hidden, and the usage at its end is read. */
export interface LongEvent {
  /** Returns the bytes that can be sent now. */
  take(piece: Buffer, endsEvent: boolean): Buffer;
  /** Returns the held bytes of an event that never ended. */
  rest(): Buffer;
  /** Ends the event; returns the usage that is known now. */
  usageAfter(before: Usage | undefined): Usage | undefined;
}

/** `hider` is undefined if the model need not be hidden. */
export function longEvent(protocol: Protocol, hider: ModelHider | undefined): LongEvent {
  const rules = protocol.stream;
  const pieces = hider === undefined ? undefined : hideInPieces(hider);
  let tail = NOTHING;
  let isMarked = false;
  const rest = (): Buffer => pieces?.rest() ?? NOTHING;
  return {
    take: (piece, endsEvent) => {
      isMarked ||= mentionsUsage(piece, rules);
      tail = keepLastBytes(tail, piece);
      const ready = pieces?.take(piece) ?? piece;
      return endsEvent ? Buffer.concat([ready, rest()]) : ready;
    },
    rest,
    usageAfter: (before) => {
      const holders = findUsageHolders(tail, protocol);
      const after = isMarked ? rules.usageAfter({ ...holders, response: holders }, before) : before;
      tail = NOTHING;
      isMarked = false;
      return after;
    },
  };
}

export function mentionsUsage(bytes: Buffer, { usageMarks }: StreamRules): boolean {
  return usageMarks.some((mark) => bytes.includes(mark));
}
