import { listElements } from '../../json-bytes/list-elements.ts';
import type { ListPosition } from '../../json-bytes/list-elements.ts';
import type { StreamFault } from '../protocols/protocol.ts';
import { UNBUFFERED } from './answer-body.ts';
import type { AnswerBody, AnswerContext } from './answer-body.ts';
import { passingEvents } from './passing-events.ts';

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

const [LF, CR] = [0x0a, 0x0d];
/** A longer frame passes as it arrives, and is not parsed. */
export const FRAME_BYTES_MAX = 1024 * 1024;

type OnPiece = (piece: Buffer, endsFrame: boolean) => void;

/**
 * Splits a stream into complete frames, each with the blank line after it. A frame that is too long to be held passes
 * in pieces.
 */
interface FrameSplitter {
  /** Calls back in the order of the bytes. No byte is lost or changed. */
  take(chunk: Buffer, onFrame: (frame: Buffer) => void, onPiece: OnPiece): void;
  /** The rest of a stream that has ended: a frame without its blank line. */
  rest(): Buffer;
  /** Reports whether the last byte that was handed out ended a frame. */
  isBetween(): boolean;
}

export function frameSplitter(): FrameSplitter {
  let held: Buffer[] = [];
  let heldBytes = 0;
  /** True while the current frame is too long to be held. */
  let passing = false;
  const lines = lineReader();

  const give = (piece: Buffer, onFrame: (frame: Buffer) => void, onPiece: OnPiece): void => {
    if (passing) onPiece(piece, true);
    else onFrame(heldBytes === 0 ? piece : Buffer.concat([...held, piece]));
    held = [];
    heldBytes = 0;
    passing = false;
  };
  const hold = (piece: Buffer, onPiece: OnPiece): void => {
    if (piece.length === 0) return;
    if (!passing && heldBytes + piece.length <= FRAME_BYTES_MAX) {
      held.push(piece);
      heldBytes += piece.length;
      return;
    }
    for (const earlier of held) onPiece(earlier, false);
    held = [];
    heldBytes = 0;
    passing = true;
    onPiece(piece, false);
  };
  return {
    take: (chunk, onFrame, onPiece) => {
      let from = 0;
      for (let end = lines.endOfFrame(chunk, 0); end > 0; end = lines.endOfFrame(chunk, end)) {
        give(chunk.subarray(from, end), onFrame, onPiece);
        from = end;
      }
      hold(chunk.subarray(from), onPiece);
    },
    rest: () => {
      const left = Buffer.concat(held);
      held = [];
      heldBytes = 0;
      return left;
    },
    isBetween: () => !passing,
  };
}

/** Reads to the end of the next blank line. Returns the position after it, or 0 if the chunk ends first. */
function lineReader(): { endOfFrame(chunk: Buffer, from: number): number } {
  let state: LineState = 'text';
  return {
    endOfFrame: (chunk, from) => {
      let at = from;
      while (at < chunk.length) {
        if (state === 'text') at = nextBreak(chunk, at);
        if (at === chunk.length) return 0;
        state = AFTER[state](chunk[at] ?? 0);
        at += 1;
        if (state !== 'end') continue;
        state = 'text';
        // a line feed that completes this line break belongs to the frame if it is in the same chunk
        return chunk[at - 1] === CR && chunk[at] === LF ? at + 1 : at;
      }
      return 0;
    },
  };
}

/** The state of a stream within its lines. A blank line ends a frame, with any kind of line break. */
type LineState = 'text' | 'broken' | 'broken_cr' | 'end';

const afterBreak = (byte: number): LineState => (byte === LF || byte === CR ? 'end' : 'text');
const afterCr = (byte: number): LineState => {
  if (byte === LF) return 'broken';
  return byte === CR ? 'end' : 'text';
};
const inText = (byte: number): LineState => {
  if (byte === LF) return 'broken';
  return byte === CR ? 'broken_cr' : 'text';
};

const AFTER: Readonly<Record<LineState, (byte: number) => LineState>> = {
  text: inText,
  broken: afterBreak,
  broken_cr: afterCr,
  end: inText,
};

/** Returns the position of the next line break, or the end if there is none. */
function nextBreak(chunk: Buffer, from: number): number {
  const lf = chunk.indexOf(LF, from);
  const end = lf < 0 ? chunk.length : lf;
  const cr = chunk.subarray(from, end).indexOf(CR);
  return cr < 0 ? end : from + cr;
}
