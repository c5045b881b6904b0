import { choice, section, text } from '../config/settings.ts';
import type { EntryAt } from '../config/settings.ts';

const CERTIFICATE_FILE = 'the path of a PEM file with the certificate, followed by its intermediate certificates';
const KEY_FILE = 'the path of a PEM file with the private key of the certificate, without a passphrase';
const clientPair = {
  certificate: text('the certificate to show', { absent: 'none', minLength: 1, expects: CERTIFICATE_FILE }),
  key: text('the private key of the certificate', { absent: 'none', minLength: 1, expects: KEY_FILE }),
};

/** The ways in which a port with a `client_ca` treats the certificates of its clients. */
const CLIENT_CERTIFICATES = ['required', 'optional'] as const;

/** The `tls` of a service that listens: for its gRPC port and its HTTP port. */
export const listenerTls = section(
  {
    certificate: text('the certificate of both ports', {
      absent: 'plaintext',
      minLength: 1,
      expects: CERTIFICATE_FILE,
      required: true,
    }),
    key: text('the private key of the certificate', {
      absent: 'plaintext',
      minLength: 1,
      expects: KEY_FILE,
      required: true,
    }),
    client_ca: text('the authorities that sign client certificates', {
      absent: 'no client is asked for a certificate',
      minLength: 1,
      expects: 'the path of a PEM file with the authorities that sign client certificates; empty: clients need none',
    }),
    client_certificates: choice(
      'whether every client needs a certificate; `optional`: one without needs a key',
      CLIENT_CERTIFICATES,
      { default: 'required', expects: 'one of: required, optional; without client_ca it has no effect' },
    ),
  },
  { expects: 'an object with certificate and key, such as { certificate: tls/tls.crt, key: tls/tls.key }' },
);

/** The `tls` of calls to the services: the authority of their certificates, and the certificate to show them. */
export const clientTls = section(
  {
    ca: text('the authorities of the services, for TLS in every call', {
      absent: 'plaintext',
      minLength: 1,
      expects: 'the path of a PEM file with the authorities that sign the certificates of the services',
      required: true,
    }),
    ...clientPair,
  },
  { expects: 'an object with ca, such as { ca: tls/ca.crt }' },
);

/** The `tls` of calls to a server that is not part of the program. */
export const outgoingTls = section(
  {
    ca: text('the authorities of the servers, a PEM file', {
      absent: 'those of the system',
      minLength: 1,
      expects: 'the path of a PEM file with the authorities of the server; empty: those of the system',
    }),
    ...clientPair,
  },
  {
    expects: 'an object such as { ca: tls/ca.crt }',
    schema: { dependencies: { certificate: ['key'], key: ['certificate'] } },
  },
);

/** As the checked configuration has it. */
export type ListenerTlsEntry = NonNullable<EntryAt<typeof listenerTls>>;
