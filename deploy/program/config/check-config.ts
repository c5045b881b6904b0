import { billingConfig } from '@reelgate/billing/config';
import { gatewayConfig } from '@reelgate/gateway/config';
import { mediaConfig } from '@reelgate/media/config';
import { ConfigError } from '@reelgate/platform/config/config-file';
import type { ConfigFile } from '@reelgate/platform/config/config-file';
import type { Keys } from '@reelgate/platform/config/config-locations';
import { TARGET_EXPECTED, parseTarget } from '@reelgate/platform/rpc/grpc/target';
import type { TargetEntry } from '@reelgate/platform/rpc/grpc/target';
import { tasksConfig } from '@reelgate/tasks/config';
import { checkGrantedAccounts, checkTokenModels } from './findings/account-findings.ts';
import {
  checkCallerCredentials,
  checkCallerNames,
  checkOperatorKeys,
  checkOperatorNames,
} from './findings/caller-findings.ts';
import {
  checkAlphaEndpoints,
  checkCallbackAddresses,
  checkChannelEndpoints,
  checkChannelIds,
  checkChannelModels,
} from './findings/channel-findings.ts';
import type { ComparedConfig, Finding, Rule } from './findings/finding.ts';
import { checkModelRanges, findUnusedModels } from './findings/model-findings.ts';
import { checkAlphaPrices, findUnpricedModels, findUnusedPrices } from './findings/price-findings.ts';
import {
  checkBothSides,
  checkClientAuthorities,
  checkClientPair,
  findUnverifiedDatabases,
} from './findings/tls-findings.ts';
import { checkPollOrder, checkQueueTimes, findPlainExceptions } from './findings/value-findings.ts';
import { readInternalCallers } from './internal-callers.ts';

const RULES: readonly Rule[] = [
  checkChannelIds,
  checkChannelModels,
  checkModelRanges,
  checkCallerNames,
  checkCallerCredentials,
  checkOperatorNames,
  checkOperatorKeys,
  checkClientPair,
  checkClientAuthorities,
  checkBothSides,
  findUnverifiedDatabases,
  findPlainExceptions,
  checkChannelEndpoints,
  checkAlphaEndpoints,
  checkAlphaPrices,
  checkCallbackAddresses,
  checkPollOrder,
  checkQueueTimes,
  findUnusedModels,
  findUnpricedModels,
];
/** They compare other lists with those of the channels. */
const AMONG_CHANNELS: readonly Rule[] = [findUnusedPrices, checkTokenModels, checkGrantedAccounts];

/** Lines with file, line, key and what would be right. */
export interface CheckedLines {
  readonly refused: readonly string[];
  readonly warnings: readonly string[];
}

/** The schema accepts the configuration, but it cannot work. */
export class RefusedConfig extends ConfigError implements CheckedLines {
  readonly warnings: readonly string[];

  constructor(refused: readonly string[], warnings: readonly string[]) {
    super(...refused);
    this.warnings = warnings;
  }
}

/** Checks what no schema can: that amounts and dates exist, and that the lists agree with one another. */
export function checkConfig(file: ConfigFile, checked: ComparedConfig): CheckedLines {
  const { value } = file;
  const readers = [
    () => billingConfig(value),
    () => gatewayConfig(value),
    () => mediaConfig(value),
    () => tasksConfig(value, checked.public_url),
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

/**
 * All findings, in the order of the rules. A configuration with neither models nor channels is that of billing, which
 * needs none of them and so need not get the credentials of the channels.
 */
function listFindings(config: ComparedConfig): readonly Finding[] {
  const hasChannels = config.channels.length > 0 || Object.keys(config.models).length > 0;
  return [...RULES, ...(hasChannels ? AMONG_CHANNELS : [])].flatMap((rule) => rule(config));
}

const SERVICES = ['tasks', 'billing', 'media'] as const;
/** grpc-js reads it when it is loaded; without it, it leaves the name server of a target unasked. */
const ASKS_NAME_SERVERS = 'GRPC_NODE_USE_ALTERNATIVE_RESOLVER';

/** One line for each target that cannot be called: file, line, key, and what would be right. */
export function findUnusableTargets(
  file: ConfigFile,
  services: Readonly<Partial<Record<(typeof SERVICES)[number], TargetEntry>>>,
  environment: Readonly<Record<string, string | undefined>>,
): readonly string[] {
  return SERVICES.flatMap((name) => {
    const entry = services[name];
    const expected = entry === undefined ? undefined : describeTargetFault(entry, environment);
    return expected === undefined ? [] : [file.fault(['gateway', 'services', name], expected).message];
  });
}

function describeTargetFault(
  entry: TargetEntry,
  environment: Readonly<Record<string, string | undefined>>,
): string | undefined {
  const parsed = parseTarget(entry);
  if (parsed === undefined) return `expected ${TARGET_EXPECTED}`;
  return parsed.nameServer === undefined || environment[ASKS_NAME_SERVERS] === 'true'
    ? undefined
    : `the name server ${parsed.nameServer} is asked only with ${ASKS_NAME_SERVERS}=true in the environment; ` +
        'expected that variable, or dns:///name:port';
}
