import { editStrings, newStringEditor } from '../../json-bytes/edit-strings.ts';
import type { StringEditor, StringEdits } from '../../json-bytes/edit-strings.ts';
import { hideInPieces } from '../../json-bytes/hide-model.ts';
import type { ModelHider } from '../../json-bytes/hide-model.ts';
import type { AnswerPlace, StateRules } from '../protocols/state.ts';
import type { SignId } from '../state/sign-ids.ts';
import { editData } from './event-data.ts';

/** The events of a stream name the same few ids again and again. */
const KNOWN_IDS_MAX = 256;

/** The changes of the gateway in an answer that passes: the name of the model, and the ids that it signs. */
export interface AnswerEdits {
  /** Edits a whole JSON text. */
  whole(json: Buffer): Buffer;
  /** Edits an event with its framing. */
  event(frame: Buffer): Buffer;
  /** Edits JSON that arrives in pieces, or a long event. Undefined if no change is needed. */
  readonly inPieces: () => StringEditor | undefined;
}

export interface AnswerEditOptions {
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
