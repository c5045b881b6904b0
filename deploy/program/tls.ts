import type { Foundation } from '@reelgate/platform/foundation';
import type { Lifecycle } from '@reelgate/platform/lifecycle/lifecycle';
import type { ServerTls } from '@reelgate/platform/tls/server-tls';
import { watchTls } from '@reelgate/platform/tls/tls-files';
import type { CurrentTls } from '@reelgate/platform/tls/tls-files';
import type { CalledService, ProgramConfig, ServiceName } from './config/program-config.ts';
import { listUsedTls } from './config/used-tls.ts';

/** The certificates of this process. */
export interface ProgramTls {
  /** Of the ports of a service; undefined: plaintext. */
  readonly ports: Readonly<Partial<Record<CalledService, ServerTls>>>;
  /** Of calls to other services; undefined: plaintext. */
  readonly calls: CurrentTls | undefined;
  /** The certificates in use by their names, each with its end. */
  current(): readonly { readonly name: string; readonly expiresAt: number | undefined }[];
  /** Reads all files at once. */
  reread(): void;
}

/** Opens the certificates that are used when all services run, or the named one. */
export function openTls(
  config: Pick<ProgramConfig, 'ports' | 'services'>,
  service: ServiceName | undefined,
  foundation: Omit<Foundation, 'bus'>,
  lifecycle: Lifecycle,
): ProgramTls {
  const watched = listUsedTls(config, service).map(({ name, files }) => {
    const tls = watchTls(name, files, foundation);
    lifecycle.add(`certificates of ${name}`, () => tls.stop());
    return [name, tls] as const;
  });
  const byName = new Map<string, CurrentTls>(watched);
  const toPortTls = (name: CalledService): Partial<Record<CalledService, ServerTls>> => {
    const { tls } = config.ports[name];
    const material = byName.get(name);
    return tls === undefined || material === undefined
      ? {}
      : { [name]: { material, clientCertificates: tls.clientCertificates } };
  };
  return {
    ports: { ...toPortTls('tasks'), ...toPortTls('billing'), ...toPortTls('media') },
    calls: byName.get('calls'),
    current: () => watched.map(([name, tls]) => ({ name, expiresAt: tls.current().expiresAt })),
    reread: () => {
      for (const [, tls] of watched) tls.reread();
    },
  };
}
