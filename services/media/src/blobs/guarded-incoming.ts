import type { Draft, Incoming } from './incoming.ts';
import { eachOfOthers, ofOthers } from './storage-faults.ts';
import type { StorageFaults } from './storage-faults.ts';

/** Where faults of our disk are refusals that may be tried again. Those of a file's source stay as they are. */
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
