import { withoutMember } from '../body-edits.ts';
import { endOfString, skipSpace } from '../json-members.ts';
import { frameSplitter } from '../stream-frames.ts';
import { asksUsage } from '../upstream-request.ts';
import type { Usage } from '../protocols/protocol.ts';
import type { AnswerBody, AnswerContext } from './answer-body.ts';
import { eventIn, withoutIdentities } from './event-data.ts';
import { longEvent, saysUsage } from './long-event.ts';

/** A comment, which every reader of events skips; a frame of its own, because some drop the frame that it stands in. */
const HEARTBEAT = Buffer.from(': ping\n\n');
const BLANK_LINE = Buffer.from('\n\n');
const [QUOTE, COLON] = [0x22, 0x3a];

/** A stream of events: each leaves as soon as it is whole. */
export function eventAnswer(context: AnswerContext): AnswerBody {
  const { call, sink, hider, hides, identities } = context;
  const rules = call.endpoint.protocol.stream;
  const asked = asksUsage(call)?.name !== undefined;
  const frames = frameSplitter();
  let usage: Usage | undefined;
  let textBytes = 0;
  let out: Buffer[] = [];
  const onFrame = (frame: Buffer): void => {
    for (const name of rules.textNames) textBytes += textBytesUnder(frame, name);
    const event = saysUsage(frame, rules) ? eventIn(frame) : undefined;
    if (event !== undefined) usage = rules.usageAfter(event, usage);
    if (event !== undefined && asked && rules.isOnlyUsage?.(event) === true) return;
    const shown = event !== undefined && asked ? withoutMember(frame, 'usage') : frame;
    const told = withoutIdentities(shown, identities);
    out.push(hides ? hider.hide(told) : told);
  };
  const long = longEvent(rules, hides ? hider : undefined);
  const onPiece = (piece: Buffer, endsFrame: boolean): void => {
    out.push(long.take(piece, endsFrame));
    if (endsFrame) usage = long.usageAfter(usage);
  };
  const write = (): void => {
    const [first] = out;
    if (first === undefined) return;
    const whole = out.length === 1 ? first : Buffer.concat(out);
    out = [];
    if (whole.length > 0 && !sink.write(whole)) context.pause();
  };
  sink.begin(context.status, context.headers);
  return {
    take: (chunk) => {
      frames.take(chunk, onFrame, onPiece);
      write();
    },
    end: (trailers) => {
      const [isBetween, rest] = [frames.isBetween(), frames.rest()];
      if (rest.length > 0) onFrame(Buffer.concat([rest, BLANK_LINE]));
      else if (!isBetween) out.push(long.rest(), BLANK_LINE);
      sink.end(out.length === 0 ? undefined : Buffer.concat(out), trailers);
    },
    broken: (fault) => {
      // what is held of an event is not shown: half of one cannot be read
      sink.end(Buffer.from(`${frames.isBetween() ? '' : '\n\n'}${rules.faultFrame(fault)}`), {});
    },
    beat: () => {
      if (frames.isBetween() && !sink.write(HEARTBEAT)) context.pause();
    },
    progress: () => ({ begun: true, usage, textBytes }),
  };
}

/** Bytes of the texts that stand under this name. */
function textBytesUnder(frame: Buffer, name: Buffer): number {
  let bytes = 0;
  for (let at = frame.indexOf(name); at >= 0; at = frame.indexOf(name, at + name.length)) {
    const colon = skipSpace(frame, at + name.length);
    const start = skipSpace(frame, colon + 1);
    if (frame[colon] === COLON && frame[start] === QUOTE) bytes += endOfString(frame, start) - start - 2;
  }
  return bytes;
}
