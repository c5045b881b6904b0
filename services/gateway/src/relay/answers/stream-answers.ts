import { listElements } from '../../json-bytes/list-elements.ts';
import type { ListPosition } from '../../json-bytes/list-elements.ts';
import type { StreamFault } from '../protocols/protocol.ts';
import { UNBUFFERED } from './answer-body.ts';
import type { AnswerBody, AnswerContext } from './answer-body.ts';
import { passingEvents } from './passing-events.ts';
import { FRAME_BYTES_MAX, frameSplitter } from './stream-frames.ts';

const CUT_OFF: StreamFault = {
  status: 502,
  code: 'upstream_failed',
  message: 'the upstream ended its answer before it was complete',
};
/**
 * A comment, which every reader of events skips. It is a frame of its own, because some readers drop a frame with a
 * comment.
 */
const EVENT_HEARTBEAT = Buffer.from(': ping\n\n');
const BLANK_LINE = Buffer.from('\n\n');
/** White space between two elements, which every reader skips. */
const LIST_HEARTBEAT = Buffer.from('\n');

/** A stream of events. Each event leaves as soon as it is complete. */
export function newEventAnswer(context: AnswerContext): AnswerBody {
  const { call, sink } = context;
  const frames = frameSplitter();
  const events = passingEvents(context);
  const faultFrame = (fault: StreamFault): Buffer => Buffer.from(call.endpoint.protocol.stream.faultFrame(fault));
  sink.begin(context.status, { ...context.headers, ...UNBUFFERED });
  return {
    ...events.body,
    take: (chunk) => {
      frames.take(chunk, events.onEvent, events.onPiece);
      events.write();
    },
    end: (trailers) => {
      const [isBetween, rest] = [frames.isBetween(), frames.rest()];
      if (rest.length > 0) events.onEvent(Buffer.concat([rest, BLANK_LINE]));
      else if (!isBetween) {
        events.endPiece();
        events.pass(BLANK_LINE);
      }
      const ending = events.ending();
      if (ending.how === 'failed') return ending;
      if (ending.how === 'broken' && !events.hasSentFault()) events.pass(faultFrame(CUT_OFF));
      sink.end(events.ready(), trailers);
      return ending;
    },
    broken: (fault) => {
      // the held part of an event is dropped, because a client cannot parse half an event
      if (!frames.isBetween()) events.pass(BLANK_LINE);
      if (!events.hasSentFault()) events.pass(faultFrame(fault));
      sink.end(events.ready(), {});
    },
    beat: () => {
      sink.release();
      if (frames.isBetween()) events.write(EVENT_HEARTBEAT);
    },
  };
}

/** A list. Each element leaves as soon as it is complete. */
export function newElementsAnswer(context: AnswerContext): AnswerBody {
  const { call, sink } = context;
  const elements = listElements(FRAME_BYTES_MAX);
  const events = passingEvents(context);
  const reader = { onBetween: events.pass, onElement: events.onEvent, onPiece: events.onPiece };
  /** Returns the end of a list that reports a fault, or undefined if the list cannot have such an end. */
  const toLastElement = (fault: StreamFault): Buffer | undefined => {
    const ending = LIST_ENDINGS[elements.position()];
    return ending === undefined ? undefined : Buffer.from(ending(call.endpoint.protocol.faultBody(fault)));
  };
  sink.begin(context.status, { ...context.headers, ...UNBUFFERED });
  return {
    ...events.body,
    take: (chunk) => {
      elements.take(chunk, reader);
      events.write();
    },
    end: (trailers) => {
      const ending = events.ending();
      if (ending.how === 'failed') return ending;
      const rest = elements.rest();
      const last = ending.how === 'broken' && !events.hasSentFault() ? toLastElement(CUT_OFF) : undefined;
      if (last !== undefined) events.pass(last);
      else if (rest.length > 0) events.onEvent(rest);
      if (elements.position() === 'in_passing_element') events.endPiece();
      sink.end(events.ready(), trailers);
      return ending;
    },
    broken: (fault) => {
      const last = toLastElement(fault);
      if (last === undefined) sink.broken();
      else sink.end(last, {});
    },
    beat: () => {
      sink.release();
      if (BETWEEN.has(elements.position())) events.write(LIST_HEARTBEAT);
    },
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
