import type { Token } from '@reelgate/proto/billing/v1/account_service';
import { defineCommand, assertNoWords } from '../command.ts';
import { formatNanos } from '../format/amount.ts';
import { WIDE_OPTION, asTable } from '../format/table.ts';
import type { Column } from '../format/table.ts';
import { isoTime, relativeTime } from '../format/times.ts';
import { toTokenJson, tokenRightName, webhookRightName } from '../format/token-record.ts';

const COLUMNS: readonly Column<Token>[] = [
  { title: 'ID', of: ({ id }) => id },
  { title: 'ACCOUNT', of: ({ accountId }) => accountId },
  { title: 'NAME', of: ({ name }) => name, shrinks: true },
  { title: 'USED', of: ({ usedNanos }) => formatNanos(usedNanos) },
  { title: 'LIMIT', of: ({ limitNanos }) => (limitNanos === undefined ? '' : formatNanos(limitNanos)) },
  { title: 'STATE', of: describeState },
  { title: 'MODELS', of: ({ models }) => models.join(','), shrinks: true },
  { title: 'CREATED', of: ({ createdAt }) => isoTime(createdAt) ?? '', isWide: true },
  { title: 'EXPIRES', of: ({ expiresAt }) => isoTime(expiresAt) ?? '', isWide: true },
  { title: 'CREATES/MIN', of: ({ limits }) => String(limits?.createsPerMinute || ''), isWide: true },
  { title: 'READS/MIN', of: ({ limits }) => String(limits?.readsPerMinute || ''), isWide: true },
  { title: 'CALLS/MIN', of: ({ limits }) => String(limits?.callsPerMinute || ''), isWide: true },
  { title: 'IN FLIGHT', of: ({ limits }) => String(limits?.inFlight || ''), isWide: true },
  { title: 'WEBHOOKS', of: ({ webhooks }) => webhookRightName(webhooks), isWide: true },
  { title: 'TOKENS', of: ({ tokens }) => tokenRightName(tokens), isWide: true },
  { title: 'LAST CHARGED', of: ({ lastChargedAt }) => isoTime(lastChargedAt) ?? '', isWide: true },
];

export const tokenList = defineCommand({
  summary: 'list tokens, without their keys',
  words: '',
  options: { account: { value: 'ID', means: 'only the tokens of this account' }, wide: WIDE_OPTION },
  example: 'token list --account demo',
  run: async ({ services, words, options, terminal }) => {
    assertNoWords(words);
    const { tokens } = await services.accounts.listTokens({ accountId: options.account ?? '' });
    return { answer: tokens.map(toTokenJson), text: asTable(tokens, COLUMNS, { terminal, isWide: options.wide }) };
  },
});

function describeState({ revokedAt, expiresAt }: Token): string {
  if (revokedAt !== undefined) return `revoked ${relativeTime(revokedAt)}`;
  return expiresAt === undefined ? 'valid' : `ends ${relativeTime(expiresAt)}`;
}
