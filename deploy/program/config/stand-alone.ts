import type { Secret } from '@reelgate/platform/secret';
import { NOT_A_SERVICE_KEY, readServiceKey } from '../service-key.ts';
import { assertCallable } from './called-addresses.ts';
import { CALLED } from './program-config.ts';
import type { ProgramConfig, ServiceName } from './program-config.ts';

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
function assertKeys({ file, signingKey, serviceKey, isServiceKeyRequired }: ProgramConfig, name: ServiceName): void {
  if (signingKey !== undefined && isServiceKeyRequired)
    throw file.fault(
      ['signing_key'],
      `require_service_key refuses the key of every service here; expected service_key alone, from ${deriveCommand(name)}`,
    );
  if (serviceKey !== undefined) assertServiceKey({ file, signingKey, serviceKey }, name);
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

function assertServiceKey(
  { file, signingKey, serviceKey }: Pick<ProgramConfig, 'file' | 'signingKey'> & { readonly serviceKey: Secret },
  name: ServiceName,
): void {
  if (signingKey !== undefined) throw file.fault(['service_key'], 'stands beside signing_key; expected one of the two');
  const held = readServiceKey(serviceKey);
  if (held === undefined) throw file.fault(['service_key'], NOT_A_SERVICE_KEY);
  if (held.service !== name)
    throw file.fault(['service_key'], `holds the keys of ${held.service}; expected those of ${name}`);
}

const deriveCommand = (name: ServiceName): string => `\`reelgate keys derive --service ${name}\``;
