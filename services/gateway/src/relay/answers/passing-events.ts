import { countTextBytes, withoutMember } from '../../json-bytes/json-members.ts';
import type { DeliveryRules, JsonObject, StreamRules, Protocol } from '../protocols/protocol.ts';
import { findBareFault, findFault, NOTHING_CAME, toMissingFault, toTextFault } from '../protocols/faults.ts';
import type { Fault } from '../protocols/faults.ts';
import { mentionsAny, mentionsBareFault, mentionsFault } from '../protocols/mentions.ts';
import { resolveUsage } from '../protocols/resolve-usage.ts';
import type { Counters } from '../protocols/usage-counters.ts';
import { WHOLE } from './answer-body.ts';
import type { AnswerBody, AnswerContext, AnswerEnding } from './answer-body.ts';
import { editData, isDone, isErrorEvent, parseEvent, readErrorText, scrubFrame } from './event-data.ts';
import type { StringEditor } from '../../json-bytes/edit-strings.ts';
import { findUsageHolders, keepLastBytes } from './usage-in-bytes.ts';

/**
 * The events of a stream on their way to the client. It reads their usage and their faults, observes their deliveries,
 * and removes members that only the gateway asked for and members that identify the upstream.
 */
interface PassingEvents {
  /** Takes a complete event with its framing. */
  readonly onEvent: (event: Buffer) => void;
  /** Takes a piece of an event that is too long to be held. */
  readonly onPiece: (piece: Buffer, endsEvent: boolean) => void;
  /** Takes bytes that pass unchanged. */
  readonly pass: (bytes: Buffer) => void;
  /** Takes the held bytes of a long event that never ended. */
  endPiece(): void;
  /** Returns all bytes that can be sent now, or undefined if there are none. */
  ready(): Buffer | undefined;
  /** Sends them, and these bytes after them. */
  write(more?: Buffer): void;
  /** Reports whether the upstream has sent a fault to the client. */
  hasSentFault(): boolean;
  /** The end of the answer, if the upstream ends it now. */
  ending(): AnswerEnding;
  /** The reports of an answer of events about itself. */
  readonly body: Pick<AnswerBody, 'failure' | 'progress'>;
}

export function passingEvents(context: AnswerContext): PassingEvents {
  const { call, sink, edits, identities, asksUsage } = context;
  const { protocol } = call.endpoint;
  const rules = protocol.stream;
  const long = newLongEvent(protocol, edits.inPieces);
  const seen = newAnswerState(context);
  let counters: Counters | undefined;
  let textBytes = 0;
  let out: Buffer[] = [];
  const ready = (): Buffer | undefined => {
    const [first] = out;
    const whole = out.length > 1 ? Buffer.concat(out) : first;
    out = [];
    return whole === undefined || whole.length === 0 ? undefined : whole;
  };
  const endLong = (): void => {
    seen.seeLong(long.endsAnswer());
    counters = long.countersAfter(counters);
  };
  return {
    onEvent: (raw) => {
      for (const name of rules.textNames) textBytes += countTextBytes(raw, name);
      const tellsUsage = mentionsUsage(raw, rules);
      const event = tellsUsage || seen.mustRead(raw) ? parseEvent(raw) : undefined;
      const isFault = seen.see(raw, event);
      if (event !== undefined && tellsUsage) counters = rules.countersAfter(event, counters);
      if (event !== undefined && asksUsage && rules.isOnlyUsage?.(event) === true) return;
      const shown =
        event !== undefined && tellsUsage && asksUsage ? editData(raw, (data) => withoutMember(data, 'usage')) : raw;
      out.push(edits.event(scrubFrame(shown, identities, isFault)));
    },
    onPiece: (piece, endsEvent) => {
      out.push(long.take(piece, endsEvent));
      if (endsEvent) endLong();
      else seen.seeLong(false);
    },
    pass: (bytes) => void out.push(bytes),
    endPiece: () => {
      out.push(long.rest());
      endLong();
    },
    ready,
    write: (more) => {
      if (more !== undefined) out.push(more);
      const bytes = seen.failure() === undefined ? ready() : undefined;
      if (bytes !== undefined && !sink.write(bytes)) context.pause();
    },
    hasSentFault: () => seen.fault() !== undefined,
    ending: seen.ending,
    body: {
      failure: seen.failure,
      progress: () => ({
        begun: sink.isReleased(),
        delivered: seen.isDelivered(),
        usage: resolveUsage(counters),
        textBytes,
        announcedBytes: undefined,
      }),
    },
  };
}

/** The state of an answer, as its events have shown it so far. */
interface AnswerState {
  /** Reports whether the event can contain new information. */
  mustRead(raw: Buffer): boolean;
  /** Returns true if the event is only an error. */
  see(raw: Buffer, event: JsonObject | undefined): boolean;
  /** Notes that an event that is too long to be held contains a part of the ordered result. */
  seeLong(endsAnswer: boolean): void;
  isDelivered(): boolean;
  fault(): Fault | undefined;
  /** The fault, if no byte was sent yet. */
  readonly failure: () => Fault | undefined;
  readonly ending: () => AnswerEnding;
}

function newAnswerState({ call, sink }: AnswerContext): AnswerState {
  const { delivery } = call.endpoint.protocol;
  const { events } = delivery;
  let isDelivered = false;
  let isEnded = false;
  let fault: Fault | undefined;
  const deliver = (): void => {
    isDelivered = true;
    sink.release();
  };
  const failure = (): Fault | undefined => (sink.isReleased() ? undefined : fault);
  return {
    mustRead: (raw) =>
      !isDelivered ||
      mentionsFault(raw) ||
      mentionsAny(raw, events.endMarks) ||
      mentionsBareFault(raw) ||
      isErrorEvent(raw),
    see: (raw, event) => {
      if (event === undefined) {
        // the word alone is no answer
        isEnded ||= isDelivered && events.endsWithDone === true && isDone(raw);
        const text = readErrorText(raw);
        if (text !== undefined) fault ??= toTextFault(text);
        return false;
      }
      const { found, isBare, delivers, ends } = judgeEvent(raw, event, delivery);
      fault ??= found;
      if (!isDelivered && fault === undefined && delivers) deliver();
      isEnded ||= ends;
      return isBare;
    },
    seeLong: (endsAnswer) => {
      if (!isDelivered) deliver();
      isEnded ||= endsAnswer;
    },
    isDelivered: () => isDelivered,
    fault: () => fault,
    failure,
    ending: () => {
      if (fault !== undefined) return { how: sink.isReleased() ? 'broken' : 'failed', fault };
      if (isEnded) return WHOLE;
      return { how: sink.isReleased() ? 'broken' : 'failed', fault: NOTHING_CAME };
    },
  };
}

interface EventVerdict {
  readonly found: Fault | undefined;
  /** True if the event is only an error and does not name it as such. */
  readonly isBare: boolean;
  readonly delivers: boolean;
  readonly ends: boolean;
}

function judgeEvent(raw: Buffer, event: JsonObject, rules: DeliveryRules): EventVerdict {
  const [named, delivers, ends] = [findFault(event, rules), rules.events.delivers(event), rules.events.ends(event)];
  if (named !== undefined || delivers || ends) return { found: named, isBare: false, delivers, ends };
  const bare = isErrorEvent(raw) ? toMissingFault(event) : findBareFault(event);
  return { found: bare, isBare: bare !== undefined, delivers, ends };
}

function mentionsUsage(bytes: Buffer, { usageMarks }: StreamRules): boolean {
  return usageMarks.some((mark) => bytes.includes(mark));
}

const NOTHING: Buffer = Buffer.alloc(0);

/** An event that is too long to be held. It passes in pieces. It is edited, and the usage at its end is read. */
interface LongEvent {
  /** Returns the bytes that can be sent now. */
  take(piece: Buffer, endsEvent: boolean): Buffer;
  /** Returns the held bytes of an event that never ended. */
  rest(): Buffer;
  /** Reports whether the event ends the answer. */
  endsAnswer(): boolean;
  /** Ends the event. Returns the counters that are known now. */
  countersAfter(before: Counters | undefined): Counters | undefined;
}

function newLongEvent(protocol: Protocol, openEditor: () => StringEditor | undefined): LongEvent {
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
