import type { HeldHead, AnswerHeaders } from './call-sink.ts';
import type { RelayCall } from '../requests/relay-call.ts';
import type { Identities } from './scrub-error.ts';
import type { Fault } from '../protocols/faults.ts';
import type { AnswerPart, StreamFault } from '../protocols/protocol.ts';
import { editStrings, newStringEditor } from '../../json-bytes/edit-strings.ts';
import type { StringEditor, StringEdits } from '../../json-bytes/edit-strings.ts';
import { hideInPieces } from '../../json-bytes/hide-model.ts';
import type { ModelHider } from '../../json-bytes/hide-model.ts';
import type { AnswerPlace, StateRules } from '../protocols/state.ts';
import type { SignId } from '../state/sign-ids.ts';
import { editData } from './event-data.ts';

/** The progress of an answer so far. */
export interface Progress extends AnswerPart {
  /** True once anything has been sent to the client. */
  readonly begun: boolean;
  /** True once a part of the ordered result has come. */
  readonly delivered: boolean;
}

/** The end of an answer that its upstream did not break off. */
export type AnswerEnding =
  | { readonly how: 'whole' }
  /** It reported a fault, or stopped before its end. The client was informed. */
  | { readonly how: 'broken'; readonly fault: Fault }
  /** It is an error, and no part of it was sent. */
  | { readonly how: 'failed'; readonly fault: Fault };

/** Asks nginx, and proxies that follow it, to pass on each piece of a stream immediately. */
export const UNBUFFERED = { 'x-accel-buffering': 'no' };

export const WHOLE: AnswerEnding = { how: 'whole' };

/** Passes the body of an answer to the sink. */
export interface AnswerBody {
  take(chunk: Buffer): void;
  /** The fault that was reported before anything was sent: the rest of the answer need not come. */
  failure(): Fault | undefined;
  end(trailers: AnswerHeaders): AnswerEnding;
  /** The upstream broke off after the answer had begun. */
  broken(fault: StreamFault): void;
  /** Sends a heartbeat to the client, if this kind of answer has one. */
  beat(): void;
  progress(): Progress;
}

export interface AnswerContext {
  readonly call: RelayCall;
  /** It keeps the beginning of the answer back until something was delivered. */
  readonly sink: HeldHead;
  readonly status: number;
  /** True if only the gateway has requested the usage. */
  readonly asksUsage: boolean;
  /** The headers for the client. */
  readonly headers: AnswerHeaders;
  /** The upstream's declaration. */
  readonly contentLength: number | undefined;
  readonly edits: AnswerEdits;
  /** Names that an error within a stream must not show. */
  readonly identities: Identities;
  /** Stops the upstream until the sink has drained. */
  pause(): void;
}

/** The events of a stream name the same few ids again and again. */
const KNOWN_IDS_MAX = 256;

/** The changes of the gateway in an answer that passes: the name of the model, and the ids that it signs. */
interface AnswerEdits {
  /** Edits a whole JSON text. */
  whole(json: Buffer): Buffer;
  /** Edits an event with its framing. */
  event(frame: Buffer): Buffer;
  /** Edits JSON that arrives in pieces, or a long event. Undefined if no change is needed. */
  readonly inPieces: () => StringEditor | undefined;
}

interface AnswerEditOptions {
  /** Undefined if the model need not be hidden. */
  readonly hider: ModelHider | undefined;
  readonly state: StateRules | undefined;
  readonly sign: SignId;
}

export function newAnswerEdits({ hider, state, sign }: AnswerEditOptions): AnswerEdits {
  const hide = (bytes: Buffer): Buffer => hider?.hide(bytes) ?? bytes;
  const { answer: places, answerMarks: marks } = state ?? {};
  if (places === undefined) return { whole: hide, event: hide, inPieces: () => hider && hideInPieces(hider) };
  const edits = signIds(sign);
  const signWhole = (json: Buffer): Buffer => editStrings(json, places, edits);
  const isMarked = (bytes: Buffer): boolean => marks?.some((mark) => bytes.includes(mark)) ?? true;
  return {
    whole: (json) => hide(isMarked(json) ? signWhole(json) : json),
    event: (frame) => hide(isMarked(frame) ? editData(frame, signWhole) : frame),
    inPieces: () => {
      const signed = newStringEditor(places, edits);
      return hider === undefined ? signed : inTurn(signed, hideInPieces(hider));
    },
  };
}

function signIds(sign: SignId): StringEdits<AnswerPlace> {
  const known = new Map<string, string>();
  return {
    edit: ({ kind }, id) => {
      if (id === undefined || id === '') return undefined;
      if (kind === 'sealed') return sign(kind, id);
      const key = `${kind} ${id}`;
      let signed = known.get(key);
      if (signed === undefined) {
        if (known.size === KNOWN_IDS_MAX) known.clear();
        known.set(key, (signed = sign(kind, id)));
      }
      return signed;
    },
  };
}

function inTurn(first: StringEditor, second: StringEditor): StringEditor {
  return {
    take: (piece) => second.take(first.take(piece)),
    rest: () => Buffer.concat([second.take(first.rest()), second.rest()]),
  };
}
