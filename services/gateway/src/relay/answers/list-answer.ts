import type { AnswerBody, AnswerContext } from './answer-body.ts';
import { newHeldAnswer } from './held-answer.ts';
import { listElements } from '../../json-bytes/list-elements.ts';
import type { ListPosition } from '../../json-bytes/list-elements.ts';
import { FRAME_BYTES_MAX } from './stream-frames.ts';
import { passingEvents } from './passing-events.ts';

const OPEN_LIST = 0x5b;
const LEADING_SPACE = /^\s*/;
const LEADING_SPACE_BYTES_MAX = 64;
/** White space between two elements, which every reader skips. */
const HEARTBEAT = Buffer.from('\n');

/** A stream without events: a JSON list whose elements arrive one by one. Any other JSON is held like other answers. */
export function newListAnswer(context: AnswerContext): AnswerBody {
  let body: AnswerBody | undefined;
  return {
    take: (chunk) => {
      body ??= isListBegun(chunk) ? newElementsAnswer(context) : newHeldAnswer(context);
      body.take(chunk);
    },
    end: (trailers) => {
      (body ?? newHeldAnswer(context)).end(trailers);
    },
    broken: (fault) => body?.broken(fault),
    beat: () => body?.beat(),
    progress: () => body?.progress() ?? { begun: false, usage: undefined, textBytes: 0 },
  };
}

function isListBegun(chunk: Buffer): boolean {
  const [space = ''] = LEADING_SPACE.exec(chunk.toString('latin1', 0, LEADING_SPACE_BYTES_MAX)) ?? [];
  return chunk[space.length] === OPEN_LIST;
}

/** A list. Each element leaves as soon as it is complete. */
function newElementsAnswer(context: AnswerContext): AnswerBody {
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
      if (BETWEEN.has(elements.position())) write(HEARTBEAT);
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
