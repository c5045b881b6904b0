import type { Draft, Incoming } from './incoming.ts';
import { passCallerBytes, runCallerWork } from './storage-faults.ts';
import type { StorageFaults } from './storage-faults.ts';

/** Converts faults of our disk into refusals that the caller can retry. Errors of a file's source stay unchanged. */
export function guardIncoming(incoming: Incoming, faults: StorageFaults): Incoming {
  const { guard } = faults;
  return {
    begin: async (bytesMax) => guardDraft(await guard(() => incoming.begin(bytesMax)), faults),
    fill: (write) => guard(() => incoming.fill((path) => runCallerWork(() => write(path)))),
  };
}

function guardDraft(draft: Draft, { guard }: StorageFaults): Draft {
  return {
    get bytes() {
      return draft.bytes;
    },
    append: (source) => guard(() => draft.append(passCallerBytes(source))),
    finish: () => guard(() => draft.finish()),
    discard: () => guard(() => draft.discard()),
  };
}
