import type { AcceptedKeys } from '@reelgate/platform/secret';
import type { ProgramConfig } from './config/program-config.ts';
import { NOT_A_SERVICE_KEY, readServiceKey } from './service-key.ts';
import { toAcceptedKeys, openSigningKey } from './signing-key.ts';

/** The keys of the configuration: what follows from the signing key and those beside it, or those of one service. */
export function openKeys({ dataDir, signingKey, otherSigningKeys, serviceKey }: ProgramConfig): AcceptedKeys {
  if (serviceKey === undefined) return toAcceptedKeys(openSigningKey(dataDir, signingKey), otherSigningKeys);
  const read = readServiceKey(serviceKey);
  if (read === undefined) throw new Error(`service_key: ${NOT_A_SERVICE_KEY}`);
  return read.acceptedKeys;
}
