import { create } from '@bufbuild/protobuf';
import { VerifyBlobsResponseSchema } from '@reelgate/proto/media/v1/operator_service';
import type { VerifyBlobsResponse } from '@reelgate/proto/media/v1/operator_service';
import { defineCommand, assertNoWords } from '../command.ts';
import { asBytes } from '../format/quantities.ts';

/** The time limit of one page: half a gigabyte and the rest of its last blob, from a bucket that may be slow. */
const PAGE_TIMEOUT_MS = 600_000;
/** The command stops at this number of faults: the store is gone, or it is another store. */
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
    const answer = create(VerifyBlobsResponseSchema, { next: options.after ?? '' });
    do {
      terminal.progress(formatProgress(answer));
      const page = await services.media.verifyBlobs(
        { after: answer.next, sizesOnly: options.quick === true },
        { timeoutMs: PAGE_TIMEOUT_MS },
      );
      answer.checked += page.checked;
      answer.bytes += page.bytes;
      answer.faults.push(...page.faults);
      answer.next = page.next;
    } while (answer.next !== '' && answer.faults.length < FAULTS_MAX);
    terminal.clear();
    return { ok: answer.faults.length === 0, answer };
  },
});

/** After a stop, the operator can continue from `next`. */
function formatProgress({ checked, bytes, faults, next }: VerifyBlobsResponse): string {
  const counts = `${checked} blobs checked  ${asBytes(Number(bytes))}  ${faults.length} wrong`;
  return next === '' ? counts : `${counts}  --after ${next}`;
}
