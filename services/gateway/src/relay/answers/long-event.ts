import type { StringEditor } from '../../json-bytes/edit-strings.ts';
import { mentionsAny } from '../protocols/mentions.ts';
import type { Protocol } from '../protocols/protocol.ts';
import type { Counters } from '../protocols/usage-counters.ts';
import { findUsageHolders, keepLastBytes } from './usage-in-bytes.ts';

const NOTHING: Buffer = Buffer.alloc(0);

/** An event that is too long to be held. It passes in pieces. It is edited, and the usage at its end is read. */
export interface LongEvent {
  /** Returns the bytes that can be sent now. */
  take(piece: Buffer, endsEvent: boolean): Buffer;
  /** Returns the held bytes of an event that never ended. */
  rest(): Buffer;
  /** Reports whether the event ends the answer. */
  endsAnswer(): boolean;
  /** Ends the event. Returns the counters that are known now. */
  countersAfter(before: Counters | undefined): Counters | undefined;
}

export function newLongEvent(protocol: Protocol, openEditor: () => StringEditor | undefined): LongEvent {
  const rules = protocol.stream;
  let pieces: StringEditor | undefined;
  let isBegun = false;
  let tail = NOTHING;
  let isMarked = false;
  let isEnd = false;
  const rest = (): Buffer => pieces?.rest() ?? NOTHING;
  return {
    take: (piece, endsEvent) => {
      if (!isBegun) pieces = openEditor();
      isBegun = true;
      isMarked ||= rules.usageMarks.some((mark) => piece.includes(mark));
      isEnd ||= mentionsAny(piece, protocol.delivery.events.endMarks);
      tail = keepLastBytes(tail, piece);
      const ready = pieces?.take(piece) ?? piece;
      return endsEvent ? Buffer.concat([ready, rest()]) : ready;
    },
    rest,
    endsAnswer: () => isEnd || mentionsAny(tail, protocol.delivery.events.endMarks),
    countersAfter: (before) => {
      const after = isMarked ? rules.countersAfter(findUsageHolders(tail), before) : before;
      tail = NOTHING;
      isMarked = false;
      isEnd = false;
      isBegun = false;
      return after;
    },
  };
}
