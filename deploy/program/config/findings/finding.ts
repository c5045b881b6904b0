import type { Keys } from '@reelgate/platform/config/config-locations';
import type { TargetEntry } from '@reelgate/platform/rpc/grpc/target';
import type { TestedAdapter } from '@reelgate/tasks/config';
import type { ClientTlsEntry, ListenerTlsEntry } from '@reelgate/platform/tls/tls-schema';

/**
 * A fault in a configuration that its schema accepts. A setting that can never work is refused. A setting without
 * effect gives a warning.
 */
export interface Finding {
  readonly refused: boolean;
  readonly keys: Keys;
  readonly message: string;
}

/** The part of a checked configuration that the rules read. */
export interface ComparedConfig {
  readonly public_url: string;
  readonly internal_callers: readonly ComparedCaller[];
  readonly operators: readonly { readonly name: string; readonly key: string }[];
  readonly gateway: { readonly services: ComparedServices };
  readonly billing: ComparedListener;
  readonly media: ComparedListener & {
    readonly fetch: { readonly allow: readonly (string | { readonly host: string })[] };
    readonly staged: { readonly lifetime: string };
  };
  readonly models: Readonly<Record<string, ComparedModel>>;
  readonly channels: readonly ComparedChannel[];
  /** The adapters of operators. */
  readonly adapters: readonly TestedAdapter[];
  readonly prices: Readonly<Record<string, unknown>>;
  readonly accounts: readonly ComparedAccount[];
  readonly tasks: ComparedListener & {
    readonly poll: Readonly<Record<'first' | 'max' | 'soft_deadline' | 'hard_deadline', string>>;
    readonly queue: { readonly longest_wait: Readonly<Record<string, string>> };
  };
}

interface ComparedCaller {
  readonly name: string;
  readonly key?: string;
  readonly certificate?: string;
  readonly scopes?: readonly string[];
}

interface ComparedServices {
  readonly tasks?: TargetEntry;
  readonly billing?: TargetEntry;
  readonly media?: TargetEntry;
  readonly media_http?: string;
  readonly tls?: ClientTlsEntry;
}

interface ComparedListener {
  readonly database?: string;
  readonly listen?: string;
  readonly http?: string;
  readonly tls?: ListenerTlsEntry;
}

interface ComparedModel {
  readonly duration: readonly [number, number];
  readonly resolutions: readonly string[];
  readonly ratios: readonly string[];
  readonly defaults: { readonly duration?: number; readonly resolution?: string; readonly ratio?: string };
}

export type ComparedOptions = Readonly<Record<string, unknown>>;

interface ComparedChannel {
  readonly id: string;
  readonly adapter: string;
  readonly enabled: boolean;
  readonly upstream_account?: string;
  readonly endpoints: readonly string[];
  readonly models: Readonly<Record<string, string>>;
  readonly callbacks: boolean;
  /** Absent: a relay channel. */
  readonly options?: ComparedOptions;
}

interface ComparedAccount {
  readonly id: string;
  readonly tokens: readonly { readonly models: readonly string[] }[];
  readonly upstream_accounts: readonly string[];
}

/** Gives its findings in the order of the file. */
export type Rule = (config: ComparedConfig) => readonly Finding[];

export const refuse = (keys: Keys, message: string): Finding => ({ refused: true, keys, message });
export const warn = (keys: Keys, message: string): Finding => ({ refused: false, keys, message });
export const refuseIf = (isWrong: boolean, keys: Keys, message: string): readonly Finding[] =>
  isWrong ? [refuse(keys, message)] : [];
export const warnIf = (isWrong: boolean, keys: Keys, message: string): readonly Finding[] =>
  isWrong ? [warn(keys, message)] : [];
