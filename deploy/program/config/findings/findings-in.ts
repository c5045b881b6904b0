import { grantedAccounts, tokenModels } from './accounts.ts';
import { callerCredentials, callerNames } from './callers.ts';
import { alphaEndpoints, callbackAddresses, channelEndpoints, channelIds, channelModels } from './channels.ts';
import type { ComparedConfig, Finding, Rule } from './finding.ts';
import { modelRanges, unusedModels } from './models.ts';
import { alphaPrices, unpricedModels, unusedPrices } from './prices.ts';
import { bothSides, clientAuthorities, clientPair } from './tls.ts';
import { pollOrder, zeroes } from './values.ts';

const RULES: readonly Rule[] = [
  channelIds,
  channelModels,
  zeroes,
  modelRanges,
  callerNames,
  callerCredentials,
  clientPair,
  clientAuthorities,
  bothSides,
  channelEndpoints,
  alphaEndpoints,
  alphaPrices,
  callbackAddresses,
  pollOrder,
  unusedModels,
  unpricedModels,
  unusedPrices,
  tokenModels,
  grantedAccounts,
];

/** All findings, in the order of the rules. */
export function findingsIn(config: ComparedConfig): readonly Finding[] {
  return RULES.flatMap((rule) => rule(config));
}
