import type { ConfigFile } from '@reelgate/platform/config/config-file';
import { TARGET_EXPECTED, parseTarget } from '@reelgate/platform/rpc/grpc-target';
import type { TargetEntry } from '@reelgate/platform/rpc/grpc-target';

const SERVICES = ['tasks', 'billing', 'media'] as const;
/** grpc-js reads it when it is loaded; without it, it leaves the name server of a target unasked. */
const ASKS_NAME_SERVERS = 'GRPC_NODE_USE_ALTERNATIVE_RESOLVER';

/** One line for each target that cannot be called: file, line, key, and what would be right. */
export function findUnusableTargets(
  file: Pick<ConfigFile, 'fault'>,
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
