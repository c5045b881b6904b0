import { frameSplitter } from './stream-frames.ts';
import type { AnswerBody, AnswerContext } from './answer-body.ts';
import { passingEvents } from './passing-events.ts';

/**
 * A comment, which every reader of events skips. It is a frame of its own, because some readers drop a frame with a
 * comment.
 */
const HEARTBEAT = Buffer.from(': ping\n\n');
const BLANK_LINE = Buffer.from('\n\n');

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
      if (frames.isBetween()) write(HEARTBEAT);
    },
    progress: events.progress,
  };
}
