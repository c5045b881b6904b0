import { checkGrantedAccounts, checkTokenModels } from './accounts.ts';
import { checkCallerCredentials, checkCallerNames } from './callers.ts';
import {
  checkAlphaEndpoints,
  checkCallbackAddresses,
  checkChannelEndpoints,
  checkChannelIds,
  checkChannelModels,
} from './channels.ts';
import { findPlainExceptions } from './fetch-exceptions.ts';
import type { ComparedConfig, Finding, Rule } from './finding.ts';
import { checkModelRanges, findUnusedModels } from './models.ts';
import { checkAlphaPrices, findUnpricedModels, findUnusedPrices } from './prices.ts';
import { checkOperatorKeys, checkOperatorNames } from './operators.ts';
import { checkBothSides, checkClientAuthorities, checkClientPair, findUnverifiedDatabases } from './tls.ts';
import { checkPollOrder, findZeroes } from './values.ts';

const RULES: readonly Rule[] = [
  checkChannelIds,
  checkChannelModels,
  findZeroes,
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
  findUnusedModels,
  findUnpricedModels,
];
/** They compare other lists with those of the channels. */
const AMONG_CHANNELS: readonly Rule[] = [findUnusedPrices, checkTokenModels, checkGrantedAccounts];

/**
 * All findings, in the order of the rules. A configuration with neither models nor channels is that of billing, which
 * needs none of them and so need not get the credentials of the channels.
 */
export function listFindings(config: ComparedConfig): readonly Finding[] {
  const hasChannels = config.channels.length > 0 || Object.keys(config.models).length > 0;
  return [...RULES, ...(hasChannels ? AMONG_CHANNELS : [])].flatMap((rule) => rule(config));
}
