import { assertCallable } from './called-addresses.ts';
import { CALLED } from './program-config.ts';
import type { ProgramConfig, ServiceName } from './program-config.ts';

/** Refuses a configuration with which this service cannot run in its own process. Returns the warnings. */
export function checkStandAlone(config: ProgramConfig, name: ServiceName): readonly string[] {
  const { file, bus, ports, sandbox, signingKey } = config;
  if (bus === undefined)
    throw file.fault(
      ['bus'],
      'services in separate processes need a bus; expected nats://…, for example from NATS_URL',
    );
  if (signingKey === undefined)
    throw file.fault(
      ['signing_key'],
      'services in separate processes need the same key, and each would make one of its own; ' +
        `expected at least 16 characters, for example \${file:/run/secrets/signing-key} or \${REELGATE_SIGNING_KEY}`,
    );
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
