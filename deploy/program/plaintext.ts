import type { Log } from '@reelgate/platform/log';
import { parseTarget } from '@reelgate/platform/rpc/grpc-target';
import { LOOPBACK } from './config/loopback.ts';
import { CALLED, CALLED_SERVICES } from './config/program-config.ts';
import type { ProgramConfig, ServiceName } from './config/program-config.ts';

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
