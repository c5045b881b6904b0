import type { CurrentTls } from './tls-files.ts';

/** The certificates of a port, and what it asks of its clients. */
export interface ServerTls {
  readonly material: CurrentTls;
  /** Whether a client must show a certificate that the `ca` has signed; `none`: it is not asked for one. */
  readonly clientCertificates: 'required' | 'optional' | 'none';
}
