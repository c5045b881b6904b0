import { isUnverified } from '@reelgate/platform/sql/postgres-tls';
import { refuseIf, warn, warnIf } from './finding.ts';
import type { ComparedConfig, Finding } from './finding.ts';

const LISTENERS = ['tasks', 'billing', 'media'] as const;

/** A certificate cannot be shown without its key. */
export function checkClientPair({ gateway: { services } }: ComparedConfig): readonly Finding[] {
  const { certificate, key } = services.tls ?? {};
  return refuseIf(
    (certificate === undefined) !== (key === undefined),
    ['gateway', 'services', 'tls'],
    'expected certificate and key together, or neither',
  );
}

/** Client certificates that no authority is named for are never asked for. */
export function checkClientAuthorities(config: ComparedConfig): readonly Finding[] {
  return LISTENERS.flatMap((name) => {
    const { tls } = config[name];
    return warnIf(
      tls?.client_certificates === 'optional' && tls.client_ca === undefined,
      [name, 'tls', 'client_certificates'],
      'has no effect without client_ca; remove the key',
    );
  });
}

/** Encryption alone does not keep out a server in the middle. */
export function findUnverifiedDatabases(config: ComparedConfig): readonly Finding[] {
  return LISTENERS.flatMap((name) => {
    const { database } = config[name];
    return warnIf(
      database !== undefined && isUnverified(database),
      [name, 'database'],
      'any server could answer; expected sslmode=verify-full, or sslrootcert beside it',
    );
  });
}

/** One side that speaks TLS and one that does not never understand each other. */
export function checkBothSides(config: ComparedConfig): readonly Finding[] {
  const { services } = config.gateway;
  return LISTENERS.flatMap((name) => {
    const { tls, listen } = config[name];
    if (tls !== undefined && services.tls === undefined)
      return [
        warn(
          [name, 'tls'],
          'the other services and reelgate call it in plaintext; expected gateway.services.tls with ca',
        ),
      ];
    return warnIf(
      tls === undefined && services.tls !== undefined && listen !== undefined && services[name] === undefined,
      [name, 'listen'],
      `gateway.services.tls has it called over TLS; expected ${name}.tls`,
    );
  });
}
