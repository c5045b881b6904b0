import type { BlobFault } from '@reelgate/proto/media/v1/operator_service';
import { defineCommand, assertNoWords } from '../command.ts';
import { asBytes } from '../format/quantities.ts';

/** For one page: half a gigabyte and the rest of the blob that passes it, from a bucket that may be slow. */
const PAGE_TIMEOUT_MS = 600_000;
/** More faults than this mean that the store is gone or is another store. Further faults would not help. */
const FAULTS_MAX = 1000;

export const mediaVerify = defineCommand({
  summary: 'compare every stored blob with the database; exit code 1 if one is wrong',
  words: '',
  options: {
    quick: { means: 'compare only sizes, without reading the content' },
    after: { value: 'NEXT', means: 'continue where an earlier run ended' },
  },
  example: 'media verify --quick',
  run: async ({ services, words, options, terminal }) => {
    assertNoWords(words);
    const found = { checked: 0, bytes: 0, faults: [] as BlobFault[] };
    let next = options.after ?? '';
    do {
      terminal.progress(formatProgress(found, next));
      const page = await services.media.verifyBlobs(
        { after: next, sizesOnly: options.quick === true },
        { timeoutMs: PAGE_TIMEOUT_MS },
      );
      found.checked += page.checked;
      found.bytes += Number(page.bytes);
      found.faults.push(...page.faults);
      next = page.next;
    } while (next !== '' && found.faults.length < FAULTS_MAX);
    terminal.clear();
    const ok = found.faults.length === 0;
    return {
      ok,
      answer: {
        ok,
        checked: found.checked,
        bytes: found.bytes,
        faults: found.faults.map(toFaultJson),
        ...(next === '' ? {} : { next }),
      },
    };
  },
});

interface VerifyCounts {
  readonly checked: number;
  readonly bytes: number;
  readonly faults: readonly unknown[];
}

/** After a stop, the operator can continue from `next`. */
function formatProgress({ checked, bytes, faults }: VerifyCounts, next: string): string {
  const counts = `${checked} blobs checked  ${asBytes(bytes)}  ${faults.length} wrong`;
  return next === '' ? counts : `${counts}  --after ${next}`;
}

function toFaultJson({ sha256, fault, bytes, foundBytes, objects, taskIds }: BlobFault) {
  return { fault, sha256, bytes: Number(bytes), found_bytes: Number(foundBytes), objects, tasks: taskIds };
}
