import type { OperatorMe } from '../../api/session.ts';
import { moneyWords } from './words/money.ts';
import { recordWords } from './words/records.ts';
import { workWords } from './words/work.ts';

/** The texts of the operators' pages. A client never loads them. */
export const operatorWords = {
  /** Told instead of what a visitor may not do. */
  needsRole: (needed: OperatorMe['role'], to: string) => `You need the role ${needed} to ${to}.`,
  acts: {
    title: 'Recent acts',
    none: 'Nobody has changed anything yet.',
    when: 'When',
    who: 'Who',
    what: 'What',
    why: 'Why',
    names: {
      channel_paused: 'Paused channel',
      channel_resumed: 'Resumed channel',
      channel_tested: 'Tested channel',
      attention_resolved: 'Decided over',
      account_credited: 'Credited account',
      token_created: 'Made token',
      token_revoked: 'Revoked token',
      token_limits_changed: 'Changed the limits of token',
      ledger_verified: 'Verified the ledger',
    } as Readonly<Record<string, string>>,
    passed: 'passed',
    failed: 'failed',
  },
  reason: {
    label: 'Reason',
    hint: (most: number) => `Kept with the act, at most ${String(most)} characters.`,
    missing: 'give a reason',
  },
  dialog: { cancel: 'Cancel', back: 'Back' },
  filters: {
    apply: 'Filter',
    clear: 'Remove the filters',
  },
  ...workWords,
  ...recordWords,
  ...moneyWords,
} as const;
