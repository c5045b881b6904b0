const file = (description: string) => ({ type: 'string', minLength: 1, description }) as const;
const CERTIFICATE = file('the path of a PEM file with the certificate, followed by its intermediate certificates');
const KEY = file('the path of a PEM file with the private key of the certificate, without a passphrase');

/** The ways in which a port with a `client_ca` treats the certificates of its clients. */
export const CLIENT_CERTIFICATES = ['required', 'optional'] as const;

/** The `tls` of a service that listens: for its gRPC port and its HTTP port. */
export const listenerTlsSchema = {
  type: 'object',
  description: 'an object with certificate and key, such as { certificate: tls/tls.crt, key: tls/tls.key }',
  additionalProperties: false,
  required: ['certificate', 'key'],
  properties: {
    certificate: CERTIFICATE,
    key: KEY,
    client_ca: file(
      'the path of a PEM file with the authorities that sign client certificates; empty: clients need none',
    ),
    client_certificates: {
      enum: CLIENT_CERTIFICATES,
      default: 'required',
      description: 'one of: required, optional; without client_ca it has no effect',
    },
  },
} as const;

/** The `tls` of calls to the services: the authority of their certificates, and the certificate to show them. */
export const clientTlsSchema = {
  type: 'object',
  description: 'an object with ca, such as { ca: tls/ca.crt }',
  additionalProperties: false,
  required: ['ca'],
  properties: {
    ca: file('the path of a PEM file with the authorities that sign the certificates of the services'),
    certificate: CERTIFICATE,
    key: KEY,
  },
} as const;

/** The `tls` of calls to a server that is not part of the program. Empty files mean the authorities of the system. */
export const outgoingTlsSchema = {
  type: 'object',
  description: 'an object such as { ca: tls/ca.crt }',
  additionalProperties: false,
  dependencies: { certificate: ['key'], key: ['certificate'] },
  properties: {
    ca: file('the path of a PEM file with the authorities of the server; empty: those of the system'),
    certificate: CERTIFICATE,
    key: KEY,
  },
} as const;

/** As the checked configuration has it. */
export interface ListenerTlsEntry {
  readonly certificate: string;
  readonly key: string;
  readonly client_ca?: string;
  readonly client_certificates: (typeof CLIENT_CERTIFICATES)[number];
}

export interface ClientTlsEntry {
  readonly ca: string;
  readonly certificate?: string;
  readonly key?: string;
}
