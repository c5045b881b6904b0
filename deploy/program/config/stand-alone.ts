import type { ConfigError } from '@reelgate/platform/config/config-file';
import { parseHostPort } from '@reelgate/platform/config/units';
import { parseTarget } from '@reelgate/platform/rpc/grpc/target';
import type { Secret } from '@reelgate/platform/secret';
import { NOT_A_SERVICE_KEY, readServiceKey } from '../keys/service-key.ts';
import type { ComparedConfig } from './findings/finding.ts';
import { CALLED, DEFAULT_ADDRESSES } from './program-config.ts';
import type { ProgramConfig, ServiceName } from './program-config.ts';

/** Hosts of this machine alone. */
export const LOOPBACK = /^(127\.\d+\.\d+\.\d+|::1|localhost)$/;

/** Refuses a configuration with which this service cannot run in its own process. Returns the warnings. */
export function checkStandAlone(config: ProgramConfig, name: ServiceName): readonly string[] {
  const { file, bus, ports, sandbox } = config;
  if (bus === undefined)
    throw file.fault(
      ['bus'],
      'services in separate processes need a bus; expected nats://…, for example from NATS_URL',
    );
  assertKeys(config, name);
  if (name !== 'gateway') {
    if (ports[name].rpc === undefined)
      throw file.fault(
        [name, 'listen'],
        'a service in its own process is called over gRPC; expected an address such as 127.0.0.1:9101',
      );
    if (name === 'media' && ports.media.http === undefined) {
      throw file.fault(
        ['media', 'http'],
        'a media service in its own process serves bytes over HTTP; expected an address such as 127.0.0.1:9113',
      );
    }
  }
  assertCallable(config, name);
  assertCallsOverTls(config, name);
  if (sandbox === undefined) return [];
  const pointing =
    config.sandboxChannels.length === 0 ? '' : `; these channels point to it: ${config.sandboxChannels.join(', ')}`;
  return [
    file.fault(['sandbox'], `only the program with all services starts the sandbox${pointing}; remove the key`).message,
  ];
}

/** The file that this process reads may say how the services are listened to; then its calls must be alike. */
function assertCallsOverTls({ file, ports, services }: ProgramConfig, name: ServiceName): void {
  const listener = services.tls === undefined ? CALLED[name].find((one) => ports[one].tls !== undefined) : undefined;
  if (listener !== undefined)
    throw file.fault(
      ['gateway', 'services', 'tls'],
      `${listener} listens with TLS, and ${name} calls it; expected gateway.services.tls with ca`,
    );
}

/** A service holds its own keys, or the signing key, from which the keys of every service follow. */
function assertKeys(config: ProgramConfig, name: ServiceName): void {
  const { file, signingKey, serviceKey, isServiceKeyRequired } = config;
  if (signingKey !== undefined && isServiceKeyRequired)
    throw file.fault(
      ['signing_key'],
      `require_service_key refuses the key of every service here; expected service_key alone, from ${deriveCommand(name)}`,
    );
  if (serviceKey !== undefined) assertServiceKey(config, serviceKey, name);
  else if (isServiceKeyRequired)
    throw file.fault(['service_key'], `require_service_key needs it; expected what ${deriveCommand(name)} prints`);
  else if (signingKey === undefined)
    throw file.fault(
      ['signing_key'],
      'services in separate processes need the same key, and each would make one of its own; expected service_key, ' +
        `from ${deriveCommand(name)}, or at least 16 characters, for example \${file:/run/secrets/signing-key} ` +
        `or \${REELGATE_SIGNING_KEY}`,
    );
}

function assertServiceKey({ file, signingKey }: ProgramConfig, serviceKey: Secret, name: ServiceName): void {
  if (signingKey !== undefined) throw file.fault(['service_key'], 'stands beside signing_key; expected one of the two');
  const held = readServiceKey(serviceKey);
  if (held === undefined) throw file.fault(['service_key'], NOT_A_SERVICE_KEY);
  if (held.service !== name)
    throw file.fault(['service_key'], `holds the keys of ${held.service}; expected those of ${name}`);
}

const deriveCommand = (name: ServiceName): string => `\`reelgate keys derive --service ${name}\``;

const EVERY_ADDRESS = /^(0\.0\.0\.0|[0:]*)$/;
const BYTES_KEY = 'media_http';
const EVERY = 'is every address of a machine, and no address to call';

/**
 * Refuses a process of its own that would call a service at an address that only its listener can use. The file that
 * says where a service listens may be shared by processes of several machines.
 */
function assertCallable(config: ProgramConfig, name: ServiceName): void {
  const { gateway, ...listeners } = config.file.value as ComparedConfig;
  for (const called of CALLED[name]) {
    const example = `${called}:${readPort(DEFAULT_ADDRESSES[called])}`;
    if (gateway.services[called] === undefined && isEveryAddress(listeners[called].listen))
      throw newAddressFault(config, called, [`${called}.listen ${EVERY}`, name, example]);
    if (called === 'media') assertBytesCallable(config, name);
  }
}

function assertBytesCallable(config: ProgramConfig, name: ServiceName): void {
  const { gateway, media } = config.file.value as ComparedConfig;
  if (gateway.services.media_http !== undefined) return;
  const { http = DEFAULT_ADDRESSES.mediaHttp } = media;
  const example = `media:${readPort(http)}`;
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

function readPort(address: string): number | '' {
  return parseHostPort(address)?.port ?? '';
}
