import { countTextBytes, withoutMember } from '../../json-bytes/json-members.ts';
import { hideInPieces } from '../../json-bytes/hide-model.ts';
import type { ModelHider } from '../../json-bytes/hide-model.ts';
import { listElements } from '../../json-bytes/list-elements.ts';
import type { ListPosition } from '../../json-bytes/list-elements.ts';
import type { StreamRules } from '../protocols/protocol.ts';
import { resolveUsage } from '../protocols/resolve-usage.ts';
import type { Counters } from '../protocols/usage-counters.ts';
import { buildUsageRequest } from '../requests/upstream-request.ts';
import type { AnswerBody, AnswerContext, Progress } from './answer-body.ts';
import { editData, parseEvent, scrubFrame } from './event-data.ts';
import { FRAME_BYTES_MAX, frameSplitter } from './stream-frames.ts';
import { findUsageHolders, keepLastBytes } from './usage-in-bytes.ts';

/**
 * A comment, which every reader of events skips. It is a frame of its own, because some readers drop a frame with a
 * comment.
 */
const EVENT_HEARTBEAT = Buffer.from(': ping\n\n');
const BLANK_LINE = Buffer.from('\n\n');
/** White space between two elements, which every reader skips. */
const LIST_HEARTBEAT = Buffer.from('\n');
const NOTHING: Buffer = Buffer.alloc(0);

/** A stream of events. Each event leaves as soon as it is complete. */
export function newEventAnswer(context: AnswerContext): AnswerBody {
  const { call, sink } = context;
  const frames = frameSplitter();
  const events = passingEvents(context);
  const write = (bytes: Buffer | undefined): void => {
    if (bytes !== undefined && !sink.write(bytes)) context.pause();
  };
  sink.begin(context.status, context.headers);
  return {
    take: (chunk) => {
      frames.take(chunk, events.onEvent, events.onPiece);
      write(events.ready());
    },
    end: (trailers) => {
      const [isBetween, rest] = [frames.isBetween(), frames.rest()];
      if (rest.length > 0) events.onEvent(Buffer.concat([rest, BLANK_LINE]));
      else if (!isBetween) {
        write(events.rest());
        events.pass(BLANK_LINE);
      }
      sink.end(events.ready(), trailers);
    },
    broken: (fault) => {
      // the held part of an event is dropped, because a client cannot parse half an event
      sink.end(
        Buffer.from(`${frames.isBetween() ? '' : '\n\n'}${call.endpoint.protocol.stream.faultFrame(fault)}`),
        {},
      );
    },
    beat: () => {
      if (frames.isBetween()) write(EVENT_HEARTBEAT);
    },
    progress: events.progress,
  };
}

/** A list. Each element leaves as soon as it is complete. */
export function newElementsAnswer(context: AnswerContext): AnswerBody {
  const { call, sink } = context;
  const elements = listElements(FRAME_BYTES_MAX);
  const events = passingEvents(context);
  const reader = { onBetween: events.pass, onElement: events.onEvent, onPiece: events.onPiece };
  const write = (bytes: Buffer | undefined): void => {
    if (bytes !== undefined && !sink.write(bytes)) context.pause();
  };
  sink.begin(context.status, context.headers);
  return {
    take: (chunk) => {
      elements.take(chunk, reader);
      write(events.ready());
    },
    end: (trailers) => {
      const rest = elements.rest();
      if (rest.length > 0) events.onEvent(rest);
      sink.end(events.rest(), trailers);
    },
    broken: (fault) => {
      const ending = LIST_ENDINGS[elements.position()];
      const element = call.endpoint.protocol.stream.faultElement?.(fault);
      if (ending === undefined || element === undefined) sink.broken();
      else sink.end(Buffer.from(ending(element)), {});
    },
    beat: () => {
      if (BETWEEN.has(elements.position())) write(LIST_HEARTBEAT);
    },
    progress: events.progress,
  };
}

const BETWEEN: ReadonlySet<ListPosition> = new Set<ListPosition>([
  'opened',
  'behind_element',
  'behind_comma',
  'in_held_element',
]);
const lastElement = (element: string): string => `${element}]`;

/**
 * The functions that end a list with one more element; undefined where that is impossible, because an element was
 * already sent in part. Held bytes are dropped.
 */
const LIST_ENDINGS: Readonly<Record<ListPosition, ((element: string) => string) | undefined>> = {
  before: (element) => `[${element}]`,
  opened: lastElement,
  behind_comma: lastElement,
  in_held_element: lastElement,
  behind_element: (element) => `,${element}]`,
  in_passing_element: undefined,
  closed: () => '',
};

/**
 * The events of a stream on their way to the client. It reads their usage, and removes what only the gateway asked for
 * and what identifies the upstream.
 */
interface PassingEvents {
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

function passingEvents({ call, hider, hides, identities }: AnswerContext): PassingEvents {
  const rules = call.endpoint.protocol.stream;
  const asked = buildUsageRequest(call)?.name !== undefined;
  const long = longEvent(rules, hides ? hider : undefined);
  let counters: Counters | undefined;
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
      if (event !== undefined) counters = rules.countersAfter(event, counters);
      if (event !== undefined && asked && rules.isOnlyUsage?.(event) === true) return;
      const shown = event !== undefined && asked ? editData(raw, (data) => withoutMember(data, 'usage')) : raw;
      const told = scrubFrame(shown, identities);
      out.push(hides ? hider.hide(told) : told);
    },
    onPiece: (piece, endsEvent) => {
      out.push(long.take(piece, endsEvent));
      if (endsEvent) counters = long.countersAfter(counters);
    },
    pass: (bytes) => void out.push(bytes),
    ready,
    rest: () => {
      out.push(long.rest());
      return ready();
    },
    progress: () => ({ begun: true, usage: resolveUsage(counters), textBytes }),
  };
}

/** An event that is too long to be held. It passes in pieces; its model is hidden, and the usage at its end is read. */
interface LongEvent {
  /** Returns the bytes that can be sent now. */
  take(piece: Buffer, endsEvent: boolean): Buffer;
  /** Returns the held bytes of an event that never ended. */
  rest(): Buffer;
  /** Ends the event; returns the counters that are known now. */
  countersAfter(before: Counters | undefined): Counters | undefined;
}

/** `hider` is undefined if the model need not be hidden. */
function longEvent(rules: StreamRules, hider: ModelHider | undefined): LongEvent {
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
    countersAfter: (before) => {
      const after = isMarked ? rules.countersAfter(findUsageHolders(tail), before) : before;
      tail = NOTHING;
      isMarked = false;
      return after;
    },
  };
}

function mentionsUsage(bytes: Buffer, { usageMarks }: StreamRules): boolean {
  return usageMarks.some((mark) => bytes.includes(mark));
}
