import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { ServiceEvent as WireEvent } from '@reelgate/proto/access/v1/service_event';
import type { Note, RaisedAttention } from '@reelgate/proto/tasks/v1/operator_service';
import type { OperatorNote } from '../domain/operator-records.ts';
import { withDeadline } from './caller.ts';
import type { Caller } from './caller.ts';
import type { OperatorClients } from './gateway-clients.ts';
import { requireValue, toMs } from './wire-values.ts';
import type { MessageMapping } from './wire-values.ts';

export interface ServiceEvent {
  readonly at: number;
  readonly type: string;
  readonly subject: string;
}

export interface RaisedItem {
  readonly at: number;
  readonly taskId: string;
  readonly reason: string;
  readonly isOpen: boolean;
}

/** The events since an operator read last, without the acts of operators. */
export interface HandOver {
  readonly since: number;
  readonly readUntil: number | undefined;
  readonly now: number;
  readonly events: readonly ServiceEvent[];
  readonly raised: readonly RaisedItem[];
  readonly hasMore: boolean;
}

export interface HandOvers {
  read(actor: string, caller: Caller): Promise<HandOver>;
  mark(actor: string, until: number, caller: Caller): Promise<void>;
  notes(subject: string, caller: Caller): Promise<readonly OperatorNote[]>;
  addNote(note: Pick<OperatorNote, 'subject' | 'author' | 'text'>, caller: Caller): Promise<OperatorNote>;
  resolveNote(end: NoteEnd, caller: Caller): Promise<void>;
  deleteNote(end: NoteEnd, caller: Caller): Promise<void>;
}

export interface NoteEnd {
  readonly id: string;
  readonly actor: string;
}

export function handOvers({ tasks }: OperatorClients): HandOvers {
  return {
    read: async (actor, caller) => {
      const { since, readUntil, now, events, raised, hasMore } = await tasks.getHandOver(
        { actor },
        withDeadline(caller),
      );
      return {
        since: toMs(since) ?? 0,
        readUntil: toMs(readUntil),
        now: toMs(now) ?? 0,
        events: events.map(fromWireEvent),
        raised: raised.map(fromWireRaised),
        hasMore,
      };
    },
    mark: async (actor, until, caller) => {
      await tasks.markHandOver({ actor, until: timestampFromMs(until) }, withDeadline(caller));
    },
    notes: async (subject, caller) =>
      (await tasks.listNotes({ subject }, withDeadline(caller))).notes.map(fromWireNote),
    addNote: async ({ subject, author, text }, caller) => {
      const { note } = await tasks.addNote({ subject, actor: author, text }, withDeadline(caller));
      return fromWireNote(requireValue(note));
    },
    resolveNote: async ({ id, actor }, caller) => {
      await tasks.resolveNote({ id, actor }, withDeadline(caller));
    },
    deleteNote: async ({ id, actor }, caller) => {
      await tasks.deleteNote({ id, actor }, withDeadline(caller));
    },
  };
}

function fromWireEvent({ at, type, subject }: WireEvent): ServiceEvent {
  return { at: toMs(at) ?? 0, type, subject } satisfies MessageMapping<WireEvent>;
}

function fromWireRaised({ at, taskId, reason, open }: RaisedAttention): RaisedItem {
  return { at: toMs(at) ?? 0, taskId, reason, isOpen: open } satisfies MessageMapping<RaisedAttention, 'open'>;
}

function fromWireNote({ id, subject, at, author, text }: Note): OperatorNote {
  return { id, subject, at: toMs(at) ?? 0, author, text } satisfies MessageMapping<Note>;
}
