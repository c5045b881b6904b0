import type { PriceContract } from '@reelgate/proto/billing/v1/price';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { defineCommand, assertNoWords } from '../command.ts';
import { WIDE_OPTION, toListOutcome } from '../format/table.ts';
import type { Column } from '../format/table.ts';
import { isoTime, relativeTime } from '../format/times.ts';

const COLUMNS: readonly Column<PriceContract>[] = [
  { title: 'KEY', of: ({ key }) => key, shrinks: true },
  { title: 'VERSION', of: ({ version }) => String(version) },
  { title: 'CURRENT', of: ({ current }) => (current ? 'yes' : 'no') },
  { title: 'SINCE', of: ({ sinceMs }) => relativeTime(timestampFromMs(Number(sinceMs))) },
  { title: 'SINCE AT', of: ({ sinceMs }) => isoTime(timestampFromMs(Number(sinceMs))) ?? '', isWide: true },
  { title: 'TERMS', of: ({ termsJson }) => termsJson, shrinks: true },
];

export const priceList = defineCommand({
  summary: 'list every version of every price',
  words: '',
  options: { wide: WIDE_OPTION },
  example: 'price list',
  run: async ({ services, words, options, terminal }) => {
    assertNoWords(words);
    const { contracts } = await services.accounts.listPrices({});
    return toListOutcome(contracts, toPriceJson, COLUMNS, { terminal, options });
  },
});

function toPriceJson({ key, version, current, termsJson, sinceMs }: PriceContract): object {
  return {
    key,
    version,
    current,
    since: new Date(Number(sinceMs)).toISOString(),
    terms: JSON.parse(termsJson) as unknown,
  };
}
