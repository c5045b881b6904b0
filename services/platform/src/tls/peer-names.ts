import { TLSSocket } from 'node:tls';
import type { PeerCertificate } from 'node:tls';
import type { Socket } from 'node:net';

/** The kinds of names by which a certificate is known. An address does not count as a name. */
const NAME = /^(?:DNS|URI|email):([^"]+)$/;
const SEPARATOR = ', ';

/**
 * Returns the names in the client certificate of a connection. The list is empty without a certificate that an
 * authority has signed.
 */
export function readPeerNames(socket: Socket): readonly string[] {
  if (!(socket instanceof TLSSocket) || !socket.authorized) return [];
  const certificate: Partial<PeerCertificate> = socket.getPeerCertificate();
  return certificate.raw === undefined ? [] : readCertificateNames(certificate as PeerCertificate);
}

/**
 * The names in a verified certificate: the common name, and the DNS names, URIs and e-mail addresses of the subject. A
 * name with special characters, which Node quotes, is left out, so that no name can pretend to be two.
 */
export function readCertificateNames({ subject, subjectaltname = '' }: PeerCertificate): readonly string[] {
  // a subject with several common names has a list here, against its type
  const common: unknown = subject.CN;
  const others = subjectaltname.includes('"')
    ? []
    : subjectaltname.split(SEPARATOR).flatMap((entry) => NAME.exec(entry)?.[1] ?? []);
  return [...new Set([...(typeof common === 'string' ? [common] : []), ...others])];
}
