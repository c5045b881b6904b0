import type { CurrentTls } from './tls-files.ts';

/** The certificates of a port, and what it asks of its clients. */
export interface ServerTls {
  readonly material: CurrentTls;
  /** The demand for a client certificate that the `ca` has signed; with `none`, clients are not asked for one. */
  readonly clientCertificates: 'required' | 'optional' | 'none';
}
