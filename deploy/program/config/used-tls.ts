import type { Keys } from '@reelgate/platform/config/config-locations';
import { readTlsFiles } from '@reelgate/platform/tls/tls-files';
import type { CurrentTls } from '@reelgate/platform/tls/tls-files';
import { TlsFault } from '@reelgate/platform/tls/tls-material';
import type { TlsFile, TlsFiles, TlsMaterial } from '@reelgate/platform/tls/tls-material';
import { CALLED, CALLED_SERVICES } from './program-config.ts';
import type { CalledService, ProgramConfig, ServiceName } from './program-config.ts';

/** Certificates that a process uses: for the ports of a service, or for its calls. */
interface UsedTls {
  readonly name: CalledService | 'calls';
  readonly keys: Keys;
  readonly files: TlsFiles;
}

const CALLS_KEYS: Keys = ['gateway', 'services', 'tls'];

/**
 * Lists what is used when all services run as one program, or the named one alone. In one program no call leaves the
 * process.
 */
export function listUsedTls({ ports, services }: ProgramConfig, service: ServiceName | undefined): readonly UsedTls[] {
  const listeners = CALLED_SERVICES.flatMap((name) => {
    const { tls } = ports[name];
    return tls !== undefined && (service === undefined || service === name)
      ? [{ name, keys: [name, 'tls'], files: tls.files }]
      : [];
  });
  const calls =
    services.tls !== undefined && service !== undefined && CALLED[service].length > 0
      ? [{ name: 'calls', keys: CALLS_KEYS, files: services.tls } as const]
      : [];
  return [...listeners, ...calls];
}

/** Refuses files that this process cannot start with. */
export function checkTlsFiles(config: ProgramConfig, service: ServiceName | undefined, now: number): void {
  for (const used of listUsedTls(config, service)) readOrFault(config, used, now);
}

/** The certificates of the command line's calls, which live as long as a command. */
export function callsTls(config: ProgramConfig, now: number): CurrentTls | undefined {
  const files = config.services.tls;
  if (files === undefined) return undefined;
  const material = readOrFault(config, { name: 'calls', keys: CALLS_KEYS, files }, now);
  return { current: () => material, onChange: () => () => undefined };
}

function readOrFault({ file }: ProgramConfig, { name, keys, files }: UsedTls, now: number): TlsMaterial {
  try {
    return readTlsFiles(files, now);
  } catch (error) {
    if (!(error instanceof TlsFault)) throw error;
    throw file.fault([...keys, toConfigKey(error.file, name)], `the file ${error.message}`);
  }
}

/** Returns the key of the file in the configuration. */
function toConfigKey(file: TlsFile, name: UsedTls['name']): string {
  return file === 'ca' && name !== 'calls' ? 'client_ca' : file;
}
