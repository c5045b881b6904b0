import type { Keys } from '@reelgate/platform/config/config-locations';
import type { AccountsEntry, BillingEntry } from '@reelgate/billing/config';
import type { GatewayEntry } from '@reelgate/gateway/config';
import type { MediaEntry } from '@reelgate/media/config';
import type { upstreamKeys } from '@reelgate/platform/config/upstream-keys';
import type { EntryOf } from '@reelgate/platform/config/settings';
import type { ModelEntry, TasksEntry, TestedAdapter, videoChannelKeys } from '@reelgate/tasks/config';
import type { programKeys } from '../program-schema.ts';

/**
 * A fault in a configuration that its schema accepts. A setting that can never work is refused. A setting without
 * effect gives a warning.
 */
export interface Finding {
  readonly refused: boolean;
  readonly keys: Keys;
  readonly message: string;
}

/** A checked configuration. */
export interface ComparedConfig extends EntryOf<typeof programKeys> {
  readonly gateway: GatewayEntry;
  readonly tasks: TasksEntry;
  readonly billing: BillingEntry;
  readonly media: MediaEntry;
  readonly models: Readonly<Record<string, ModelEntry>>;
  readonly channels: readonly ComparedChannel[];
  /** The adapters of operators. */
  readonly adapters: readonly TestedAdapter[];
  readonly prices: Readonly<Record<string, unknown>>;
  readonly accounts: AccountsEntry;
}

/** A channel of either service. */
type ComparedChannel = EntryOf<typeof upstreamKeys> &
  Partial<EntryOf<typeof videoChannelKeys>> & { readonly adapter: string };

/** Gives its findings in the order of the file. */
export type Rule = (config: ComparedConfig) => readonly Finding[];

export const refuse = (keys: Keys, message: string): Finding => ({ refused: true, keys, message });
export const warn = (keys: Keys, message: string): Finding => ({ refused: false, keys, message });
export const refuseIf = (isWrong: boolean, keys: Keys, message: string): readonly Finding[] =>
  isWrong ? [refuse(keys, message)] : [];
export const warnIf = (isWrong: boolean, keys: Keys, message: string): readonly Finding[] =>
  isWrong ? [warn(keys, message)] : [];
