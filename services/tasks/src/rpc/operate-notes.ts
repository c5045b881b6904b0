import { timestampFromMs, timestampMs } from '@bufbuild/protobuf/wkt';
import { requireField } from '@reelgate/platform/rpc/rules';
import type { Implementation } from '@reelgate/platform/rpc/service';
import { ServiceEventSchema } from '@reelgate/proto/access/v1/service_event';
import {
  FoundWorkSchema,
  GetHandOverResponseSchema,
  NoteSchema,
  RaisedAttentionSchema,
} from '@reelgate/proto/tasks/v1/operator_service';
import type { OperatorService, Note as WireNote } from '@reelgate/proto/tasks/v1/operator_service';
import type { Deps } from '../operations/deps.ts';
import type { JobDeps } from '../operations/jobs/job-deps.ts';
import { findWork } from '../operations/operators/find-work.ts';
import type { FoundMatch } from '../operations/operators/find-work.ts';
import type { OperatorDeps } from '../operations/operators/pause-channel.ts';
import { markRead, readHandOver } from '../operations/operators/read-hand-over.ts';
import { addNote, deleteNote, resolveNote } from '../operations/operators/write-note.ts';
import type { Note } from '../store/operator-store.ts';
import { STATES } from './mapping-task.ts';
import { toMessage, toWireTime } from './wire-message.ts';

/** Searches by ids. */
export function operateSearch({ store, channels }: Deps, { operators }: OperatorDeps) {
  return {
    findWork: async ({ value }) => ({
      found: (await findWork({ operators, tasks: store, channels }, value)).map(toWireFound),
    }),
  } satisfies Partial<Implementation<typeof OperatorService>>;
}

function toWireFound({ createdAt, state, by, ...found }: FoundMatch) {
  return toMessage(FoundWorkSchema, {
    ...found,
    state: STATES[state],
    createdAt: timestampFromMs(createdAt),
    foundBy: by,
  });
}

/** The hand-over to the next operator: events and notes. */
export function operateHandOver({ store }: Deps, { jobs }: JobDeps, operate: OperatorDeps) {
  const isKnown = async (subject: string): Promise<boolean> =>
    operate.channelIds().includes(subject) ||
    (await store.find(subject)) !== undefined ||
    (await jobs.findJob(subject)) !== undefined;
  const notes = { ...operate, isKnown };
  return {
    getHandOver: async ({ actor }, { caller }) => {
      const { now, since, readUntil, events, raised, hasMore } = await readHandOver(operate, actor || caller.name);
      return toMessage(GetHandOverResponseSchema, {
        now: timestampFromMs(now),
        since: timestampFromMs(since),
        readUntil: toWireTime(readUntil),
        events: events.map(({ at, ...rest }) => toMessage(ServiceEventSchema, { ...rest, at: timestampFromMs(at) })),
        raised: raised.map(({ taskId, at, reason, isOpen: open }) =>
          toMessage(RaisedAttentionSchema, { taskId, at: timestampFromMs(at), reason, open }),
        ),
        hasMore,
      });
    },
    markHandOver: async ({ actor, until }, { caller }) => {
      const readUntil = await markRead(operate, actor || caller.name, timestampMs(requireField(until, 'until')));
      return { readUntil: timestampFromMs(readUntil) };
    },
    listNotes: async ({ subject }) => ({ notes: (await operate.operators.notes(subject)).map(toWireNote) }),
    addNote: async ({ subject, actor, text }, { caller }) => ({
      note: toWireNote(await addNote(notes, { subject, author: actor || caller.name, text: text.trim() })),
    }),
    resolveNote: async ({ id, actor }, { caller }) => {
      await resolveNote(notes, { id, actor: actor || caller.name });
      return {};
    },
    deleteNote: async ({ id, actor }, { caller }) => {
      await deleteNote(notes, { id, actor: actor || caller.name });
      return {};
    },
  } satisfies Partial<Implementation<typeof OperatorService>>;
}

function toWireNote({ at, ...note }: Note): WireNote {
  return toMessage(NoteSchema, { ...note, at: timestampFromMs(at) });
}
