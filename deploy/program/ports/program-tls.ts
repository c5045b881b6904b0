import type { Lifecycle } from '@reelgate/platform/lifecycle/lifecycle';
import type { Log } from '@reelgate/platform/log';
import { parseTarget } from '@reelgate/platform/rpc/grpc/target';
import { watchTls } from '@reelgate/platform/tls/tls-files';
import type { CurrentTls, ServerTls } from '@reelgate/platform/tls/tls-files';
import { CALLED, CALLED_SERVICES } from '../config/program-config.ts';
import type { CalledService, ProgramConfig, ServiceName } from '../config/program-config.ts';
import { LOOPBACK } from '../config/stand-alone.ts';
import { listUsedTls } from '../config/used-tls.ts';
import type { FoundationWithoutBus } from '../open-foundation.ts';

/** The certificates of this process. */
export interface ProgramTls {
  /** The certificates for the ports of each service, undefined for plaintext. */
  readonly ports: Readonly<Partial<Record<CalledService, ServerTls>>>;
  /** The certificates for calls to other services, undefined for plaintext. */
  readonly calls: CurrentTls | undefined;
  /** The certificates in use by their names, each with its end. */
  current(): readonly { readonly name: string; readonly expiresAt: number | undefined }[];
  /** Reads all files immediately. */
  reread(): void;
}

/** Opens the certificates that are used when all services run, or the named one. */
export function watchProgramTls(
  config: ProgramConfig,
  service: ServiceName | undefined,
  foundation: FoundationWithoutBus,
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

/**
 * Names, in one line, the ports and calls between the services that are plaintext. It is a warning if they leave the
 * machine.
 */
export function announcePlaintext(config: ProgramConfig, service: ServiceName | undefined, log: Log): void {
  const ports = CALLED_SERVICES.filter((name) => service === undefined || service === name).flatMap((name) => {
    const { rpc, http, tls } = config.ports[name];
    return tls === undefined ? [rpc, http].flatMap((at) => (at === undefined ? [] : [at])) : [];
  });
  const calls = service === undefined || config.services.tls !== undefined ? [] : CALLED[service];
  const addresses = calls.map((name) => config.services[name]);
  if (ports.length === 0 && addresses.length === 0) return;
  const hosts = [
    ...ports.map(({ host }) => host),
    ...addresses.flatMap((address) => parseTarget(address)?.hosts ?? ['']),
  ];
  const isLocal = hosts.every((host) => LOOPBACK.test(host));
  const fields = { ports: ports.map(({ host, port }) => `${host}:${port}`), calls: addresses };
  if (isLocal)
    log.info(fields, 'plaintext: the ports and calls between the services are not encrypted, on this machine');
  else
    log.warn(
      fields,
      'plaintext: the ports and calls between the services are not encrypted, and keys cross the network; set tls, or keep them in a mesh that encrypts',
    );
}
