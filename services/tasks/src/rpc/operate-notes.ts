import { timestampFromMs, timestampMs } from '@bufbuild/protobuf/wkt';
import { requireField } from '@reelgate/platform/rpc/rules';
import type { Implementation } from '@reelgate/platform/rpc/service';
import type { OperatorService } from '@reelgate/proto/tasks/v1/operator_service';
import type { Deps } from '../operations/deps.ts';
import type { JobDeps } from '../operations/jobs/job-deps.ts';
import { findWork } from '../operations/operators/find-work.ts';
import type { OperatorDeps } from '../operations/operators/pause-channel.ts';
import { markRead, readHandOver } from '../operations/operators/read-hand-over.ts';
import { addNote, deleteNote, resolveNote } from '../operations/operators/write-note.ts';

/** Searches by ids. */
export function operateSearch({ store, channels }: Deps, { operators }: OperatorDeps) {
  return {
    findWork: async ({ value }) => ({ found: await findWork({ operators, tasks: store, channels }, value) }),
  } satisfies Partial<Implementation<typeof OperatorService>>;
}

/** The hand-over to the next operator: events and notes. */
export function operateHandOver({ store }: Deps, { jobs }: JobDeps, operate: OperatorDeps) {
  const isKnown = async (subject: string): Promise<boolean> =>
    operate.channelIds().includes(subject) ||
    (await store.find(subject)) !== undefined ||
    (await jobs.findJob(subject)) !== undefined;
  const notes = { ...operate, isKnown };
  return {
    getHandOver: ({ actor }, { caller }) => readHandOver(operate, actor || caller.name),
    markHandOver: async ({ actor, until }, { caller }) => {
      const readUntil = await markRead(operate, actor || caller.name, timestampMs(requireField(until, 'until')));
      return { readUntil: timestampFromMs(readUntil) };
    },
    listNotes: async ({ subject }) => ({ notes: [...(await operate.operators.notes(subject))] }),
    addNote: async ({ subject, actor, text }, { caller }) => ({
      note: await addNote(notes, { subject, author: actor || caller.name, text: text.trim() }),
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
