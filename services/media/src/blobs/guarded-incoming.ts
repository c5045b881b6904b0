import type { Draft, Incoming } from './incoming.ts';
import { eachOfOthers, ofOthers } from './storage-faults.ts';
import type { StorageFaults } from './storage-faults.ts';

/** Converts faults of our disk into refusals that the caller can retry. Errors of a file's source stay unchanged. */
export function guardedIncoming(incoming: Incoming, faults: StorageFaults): Incoming {
  const { guard } = faults;
  return {
    begin: async (bytesMax) => guardedDraft(await guard(() => incoming.begin(bytesMax)), faults),
    fill: (write) => guard(() => incoming.fill((path) => ofOthers(() => write(path)))),
  };
}

function guardedDraft(draft: Draft, { guard }: StorageFaults): Draft {
  return {
    get bytes() {
      return draft.bytes;
    },
    append: (source) => guard(() => draft.append(eachOfOthers(source))),
    finish: () => guard(() => draft.finish()),
    discard: () => guard(() => draft.discard()),
  };
}
