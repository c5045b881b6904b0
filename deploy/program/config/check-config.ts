import { ConfigError } from '@reelgate/platform/config/config-file';
import type { ConfigFile } from '@reelgate/platform/config/config-file';
import type { Keys } from '@reelgate/platform/config/config-locations';
import { billingConfig } from '@reelgate/billing/config';
import { gatewayConfig } from '@reelgate/gateway/config';
import { mediaConfig } from '@reelgate/media/config';
import { grpcConfig } from '@reelgate/platform/rpc/grpc-config';
import { tasksConfig } from '@reelgate/tasks/config';
import type { ComparedConfig } from './findings/finding.ts';
import { listFindings } from './findings/findings-in.ts';
import { readInternalCallers } from './internal-callers.ts';
import type { InternalCallerEntry } from './internal-callers.ts';

/** Lines with file, line, key and what would be right. */
export interface CheckedLines {
  readonly refused: readonly string[];
  readonly warnings: readonly string[];
}

/** The schema accepts the configuration, but it cannot work. */
export class RefusedConfig extends ConfigError implements CheckedLines {
  readonly refused: readonly string[];
  readonly warnings: readonly string[];

  constructor(refused: readonly string[], warnings: readonly string[]) {
    super(refused.join('\n'));
    this.refused = refused;
    this.warnings = warnings;
  }
}

/** Checks what no schema can: that amounts and dates exist, and that the lists agree with one another. */
export function checkConfig(
  file: ConfigFile,
  checked: ComparedConfig & { readonly internal_callers: readonly InternalCallerEntry[] },
): CheckedLines {
  const { value } = file;
  const readers = [
    () => billingConfig(value),
    () => gatewayConfig(value),
    () => mediaConfig(value),
    () => tasksConfig(value, checked.public_url),
    () => grpcConfig(value),
    () => readInternalCallers(file, checked.internal_callers),
  ];
  const findings = listFindings(checked).map(({ refused, keys, message }) => ({
    refused,
    line: file.fault(keys, message).message,
  }));
  const listLines = (refused: boolean): string[] =>
    findings.flatMap((finding) => (finding.refused === refused ? [finding.line] : []));
  return {
    refused: [...readers.flatMap((read) => collectRefusals(file, read)), ...listLines(true)],
    warnings: listLines(false),
  };
}

/** Adds file and line to the refusal of a settings reader, which names only the key. */
function collectRefusals(file: ConfigFile, read: () => unknown): string[] {
  try {
    read();
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    if (file.files.some((name) => error.message.startsWith(`${name}:`))) return [error.message];
    const [, dotted = '', expected = error.message] = /^(\S+): ([^]*)$/.exec(error.message) ?? [];
    return [file.fault(findKeys(file.value, dotted), expected).message];
  }
}

/** The keys of a path such as `prices.gpt-4.1.hold`. They are found in the value, because a key may hold dots. */
function findKeys(value: unknown, dotted: string): Keys {
  const keys: (string | number)[] = [];
  let within = value;
  let rest = dotted;
  while (rest !== '') {
    const known = typeof within === 'object' && within !== null ? Object.keys(within) : [];
    const key = known.filter((one) => `${rest}.`.startsWith(`${one}.`)).sort((a, b) => b.length - a.length)[0] ?? rest;
    keys.push(Array.isArray(within) ? Number(key) : key);
    within = (within as Readonly<Record<string, unknown>> | undefined)?.[key];
    rest = rest.slice(key.length + 1);
  }
  return keys;
}
