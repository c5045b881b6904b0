import type { ConfigError } from '@reelgate/platform/config/config-file';
import { parseHostPort } from '@reelgate/platform/config/units';
import { parseTarget } from '@reelgate/platform/rpc/grpc-target';
import type { ComparedConfig } from './findings/finding.ts';
import { LOOPBACK } from './loopback.ts';
import { CALLED, DEFAULT_ADDRESSES } from './program-config.ts';
import type { ProgramConfig, ServiceName } from './program-config.ts';

const EVERY_ADDRESS = /^(0\.0\.0\.0|[0:]*)$/;
const BYTES_KEY = 'media_http';
const EVERY = 'is every address of a machine, and no address to call';

/**
 * Refuses a process of its own that would call a service at an address that only its listener can use. The file that
 * says where a service listens may be shared by processes of several machines.
 */
export function assertCallable(config: ProgramConfig, name: ServiceName): void {
  const { gateway, ...listeners } = config.file.value as ComparedConfig;
  for (const called of CALLED[name]) {
    const example = `${called}:${String(readPort(DEFAULT_ADDRESSES[called]))}`;
    if (gateway.services[called] === undefined && isEveryAddress(listeners[called].listen))
      throw newAddressFault(config, called, [`${called}.listen ${EVERY}`, name, example]);
    if (called === 'media') assertBytesCallable(config, name);
  }
}

function assertBytesCallable(config: ProgramConfig, name: ServiceName): void {
  const { gateway, media } = config.file.value as ComparedConfig;
  if (gateway.services.media_http !== undefined) return;
  const { http = DEFAULT_ADDRESSES.mediaHttp } = media;
  const example = `media:${String(readPort(http))}`;
  if (isEveryAddress(http)) throw newAddressFault(config, BYTES_KEY, [`media.http ${EVERY}`, name, example]);
  if (isLocal([readHost(http)]) && !isLocal(parseTarget(gateway.services.media ?? http)?.hosts ?? []))
    throw newAddressFault(config, BYTES_KEY, [
      `media is called on another machine, and ${http} is on this one`,
      name,
      example,
    ]);
}

function newAddressFault(
  { file }: ProgramConfig,
  key: string,
  [wrong, caller, example]: readonly [wrong: string, caller: ServiceName, example: string],
): ConfigError {
  return file.fault(
    ['gateway', 'services', key],
    `${wrong}; expected the address at which ${caller} calls it, such as ${example}`,
  );
}

function isEveryAddress(listen: string | undefined): boolean {
  return listen !== undefined && EVERY_ADDRESS.test(readHost(listen));
}

function isLocal(hosts: readonly string[]): boolean {
  return hosts.every((host) => LOOPBACK.test(host));
}

function readHost(address: string): string {
  return parseHostPort(address)?.host ?? 'name';
}

function readPort(address: string): number | undefined {
  return parseHostPort(address)?.port;
}
