import type { BlobFault } from '@reelgate/proto/media/v1/operator_service';
import { noIds } from './command.ts';
import type { Command } from './command.ts';

/** Of one page: half a gigabyte and the rest of the blob that passes it, from a bucket that may be slow. */
const PAGE_TIMEOUT_MS = 600_000;
/** Beyond this many faults there is nothing to learn from one more: the store is gone, or another one. */
const FAULTS_MAX = 1000;

export const mediaCommands: Readonly<Record<string, Command>> = {
  'media verify': {
    usage: '[--quick] [--after NEXT]',
    run: async ({ media }, words) => {
      noIds(words);
      const found = { checked: 0, bytes: 0, faults: [] as BlobFault[] };
      let next = words.options.after ?? '';
      do {
        const page = await media.verifyBlobs(
          { after: next, sizesOnly: words.options.quick === true },
          { timeoutMs: PAGE_TIMEOUT_MS },
        );
        found.checked += page.checked;
        found.bytes += Number(page.bytes);
        found.faults.push(...page.faults);
        next = page.next;
        // whoever stops here can go on from the last of these
        if (next !== '')
          console.error(`${String(found.checked)} checked, ${String(found.faults.length)} wrong; --after ${next}`);
      } while (next !== '' && found.faults.length < FAULTS_MAX);
      const ok = found.faults.length === 0;
      return {
        ok,
        answer: {
          ok,
          checked: found.checked,
          bytes: found.bytes,
          faults: found.faults.map(shown),
          ...(next === '' ? {} : { next }),
        },
      };
    },
  },
};

function shown({ sha256, fault, bytes, foundBytes, objects, taskIds }: BlobFault) {
  return { fault, sha256, bytes: Number(bytes), found_bytes: Number(foundBytes), objects, tasks: taskIds };
}
