import { grantedAccounts, tokenModels } from './accounts.ts';
import { callerCredentials, callerNames } from './callers.ts';
import { alphaEndpoints, callbackAddresses, channelEndpoints, channelIds, channelModels } from './channels.ts';
import { plainExceptions } from './fetch-exceptions.ts';
import type { ComparedConfig, Finding, Rule } from './finding.ts';
import { modelRanges, unusedModels } from './models.ts';
import { alphaPrices, unpricedModels, unusedPrices } from './prices.ts';
import { operatorKeys, operatorNames } from './operators.ts';
import { bothSides, clientAuthorities, clientPair, unverifiedDatabases } from './tls.ts';
import { pollOrder, zeroes } from './values.ts';

const RULES: readonly Rule[] = [
  channelIds,
  channelModels,
  zeroes,
  modelRanges,
  callerNames,
  callerCredentials,
  operatorNames,
  operatorKeys,
  clientPair,
  clientAuthorities,
  bothSides,
  unverifiedDatabases,
  plainExceptions,
  channelEndpoints,
  alphaEndpoints,
  alphaPrices,
  callbackAddresses,
  pollOrder,
  unusedModels,
  unpricedModels,
];
/** They compare other lists with those of the channels. */
const AMONG_CHANNELS: readonly Rule[] = [unusedPrices, tokenModels, grantedAccounts];

/**
 * All findings, in the order of the rules. A configuration with neither models nor channels is that of billing, which
 * needs none of them and so need not get the credentials of the channels.
 */
export function findingsIn(config: ComparedConfig): readonly Finding[] {
  const hasChannels = config.channels.length > 0 || Object.keys(config.models).length > 0;
  return [...RULES, ...(hasChannels ? AMONG_CHANNELS : [])].flatMap((rule) => rule(config));
}
