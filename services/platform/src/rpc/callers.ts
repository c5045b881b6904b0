import { hash } from 'node:crypto';
import { Problem } from '../problem.ts';
import type { Secret } from '../secret.ts';
import type { Caller } from './service.ts';

/** The maximum number of names of an unknown certificate that a refusal repeats. */
const NAMES_SHOWN_MAX = 3;

/** A caller with a key, a name in its client certificate, or both. If it has both, either is enough. */
export interface KnownCaller extends Caller {
  readonly key?: Secret | undefined;
  readonly certificate?: string | undefined;
}

/** Returns the names in the verified client certificate of a connection, an empty list without a certificate. */
export type PeerNames = () => readonly string[];

/**
 * Finds the caller by its key, or without a key by its client certificate, or refuses. A key that is sent decides, even
 * if the connection has a certificate.
 */
export type IdentifyCaller = (authorization: string | undefined, peerNames?: PeerNames) => Caller;

export function identifyAmong(known: readonly KnownCaller[]): IdentifyCaller {
  const byKey = callerByKey(known);
  const byCertificate = callerByCertificate(known);
  return (authorization, peerNames) => {
    const names = authorization === undefined ? (peerNames?.() ?? []) : [];
    return names.length > 0 ? byCertificate(names) : byKey(authorization);
  };
}

/** Keys are found by their SHA-256, so the time of a search reveals no part of a key. */
function callerByKey(known: readonly KnownCaller[]): (authorization: string | undefined) => Caller {
  const byDigest = new Map(
    known.flatMap((caller) => (caller.key === undefined ? [] : [[digest(caller.key.reveal()), toCaller(caller)]])),
  );
  return (authorization) => {
    const key = authorization?.startsWith('Bearer ') === true ? authorization.slice('Bearer '.length) : '';
    const caller = byDigest.get(digest(key));
    if (key === '' || caller === undefined) {
      throw new Problem({
        kind: 'unauthenticated',
        reason: 'invalid_caller_key',
        message: 'send the internal caller key as `authorization: Bearer …`',
      });
    }
    return caller;
  };
}

/** Finds the caller of a certificate. A certificate may have many names, but exactly one caller must be among them. */
function callerByCertificate(known: readonly KnownCaller[]): (names: readonly string[]) => Caller {
  const byName = new Map(
    known.flatMap((caller) => (caller.certificate === undefined ? [] : [[caller.certificate, toCaller(caller)]])),
  );
  return (names) => {
    const found = names.flatMap((name) => byName.get(name) ?? []);
    const [caller] = found;
    if (caller === undefined || found.length > 1) {
      const whose = caller === undefined ? 'no internal caller' : 'several internal callers';
      throw new Problem({
        kind: 'unauthenticated',
        reason: 'unknown_caller_certificate',
        message: `the client certificate (${names.slice(0, NAMES_SHOWN_MAX).join(', ')}) belongs to ${whose}; show the certificate of one, or send a key as \`authorization: Bearer …\``,
      });
    }
    return caller;
  };
}

function toCaller({ name, accounts, scopes }: KnownCaller): Caller {
  return { name, accounts, scopes };
}

function digest(text: string): string {
  return hash('sha256', text, 'base64');
}
