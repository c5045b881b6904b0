import { createHmac, timingSafeEqual } from 'node:crypto';
import { deriveSecret } from '@reelgate/platform/secret';
import type { AcceptedKeys, Secret } from '@reelgate/platform/secret';
import type { IdKind } from '../protocols/state.ts';

/** The gateway alone has keys of this purpose. */
const STATE_PURPOSE = 'upstream-state';

const SEPARATOR = '_st_';
/** 48 bits distinguish accounts of upstreams, 96 bits protect the id. */
const [ROUTE_LENGTH, SIGNATURE_LENGTH] = [8, 16];
const SIGNED = new RegExp(`^(.+)${SEPARATOR}([\\w-]{${ROUTE_LENGTH}})([\\w-]{${SIGNATURE_LENGTH}})$`, 's');

/** An id that the gateway has signed for the account that shows it. */
export interface ReadId {
  /** As the upstream knows it. */
  readonly id: string;
  /** Reports whether it belongs to this account of an upstream. */
  readonly isOf: (upstream: string) => boolean;
}

/**
 * Signs the ids of upstreams for one account. `id_st_<route><signature>`: the route is a word for the account of the
 * upstream that only this client meets, the signature covers it, the kind, the client's account and the id. Nothing is
 * stored, so every gateway with the same signing key reads it.
 */
export interface IdSigner {
  /** Returns the function that signs the ids of an answer of this account of an upstream. */
  signFor(upstream: string): SignId;
  /** Undefined if no accepted key has signed this for the account. */
  read(kind: IdKind, signed: string): ReadId | undefined;
}

export type SignId = (kind: IdKind, id: string) => string;

export type SignIdsFor = (accountId: string) => IdSigner;

/** Each key of `signatures` verifies its own signatures. The first one signs. */
export function newIdSigners({ signatures: [current, ...others] }: AcceptedKeys): SignIdsFor {
  const signing = deriveSecret(current, STATE_PURPOSE);
  const accepted = [signing, ...others.map((key) => deriveSecret(key, STATE_PURPOSE))];
  return (accountId) => ({
    signFor: (upstream) => {
      const route = computeRoute(signing, accountId, upstream);
      return (kind, id) => `${id}${SEPARATOR}${route}${computeSignature(signing, { kind, accountId, route, id })}`;
    },
    read: (kind, signed) => {
      const [, id, route, signature] = SIGNED.exec(signed) ?? [];
      if (id === undefined || route === undefined || signature === undefined) return undefined;
      const key = accepted.find((one) => isSame(computeSignature(one, { kind, accountId, route, id }), signature));
      if (key === undefined) return undefined;
      return { id, isOf: (upstream) => computeRoute(key, accountId, upstream) === route };
    },
  });
}

/** Reports whether a text has the form of a signed id. Its signature can be wrong. */
export function looksSigned(text: string): boolean {
  return SIGNED.test(text);
}

/** Compares in constant time. Both have the same length. */
function isSame(left: string, right: string): boolean {
  return timingSafeEqual(Buffer.from(left), Buffer.from(right));
}

function computeRoute(key: Secret, accountId: string, upstream: string): string {
  return digest(key, `${JSON.stringify(['route', accountId, upstream])}\n`).slice(0, ROUTE_LENGTH);
}

interface SignedParts {
  readonly kind: IdKind;
  readonly accountId: string;
  readonly route: string;
  readonly id: string;
}

function computeSignature(key: Secret, { kind, accountId, route, id }: SignedParts): string {
  return digest(key, `${JSON.stringify(['id', kind, accountId, route])}\n${id}`).slice(0, SIGNATURE_LENGTH);
}

function digest(key: Secret, text: string): string {
  return createHmac('sha256', key.reveal()).update(text).digest('base64url');
}
