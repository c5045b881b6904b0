import { PriceContractSchema } from '@reelgate/proto/billing/v1/price';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { defineCommand, assertNoWords } from '../command.ts';
import { WIDE_OPTION, listColumns, toListOutcome } from '../format/table.ts';
import { isoTime, relativeTime } from '../format/times.ts';

const COLUMNS = listColumns(PriceContractSchema, [
  { field: 'key', shrinks: true },
  'version',
  'current',
  { title: 'SINCE', of: ({ sinceMs }) => relativeTime(timestampFromMs(Number(sinceMs))) },
  { title: 'SINCE AT', of: ({ sinceMs }) => isoTime(timestampFromMs(Number(sinceMs))) ?? '', isWide: true },
  { field: 'termsJson', title: 'TERMS', shrinks: true },
]);

export const priceList = defineCommand({
  summary: 'list every version of every price',
  words: '',
  options: { wide: WIDE_OPTION },
  example: 'price list',
  run: async ({ services, words, options, terminal }) => {
    assertNoWords(words);
    const answer = await services.accounts.listPrices({});
    return toListOutcome(answer, answer.contracts, COLUMNS, { terminal, options });
  },
});
