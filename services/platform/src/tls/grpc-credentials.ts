import { credentials, experimental, ServerCredentials } from '@grpc/grpc-js';
import type { ChannelCredentials } from '@grpc/grpc-js';
import type { CurrentTls, ServerTls } from './tls-files.ts';
import type { TlsMaterial } from './tls-material.ts';

/** The credentials of a gRPC port, whose new connections have the newest certificates; undefined: plaintext. */
export function serverCredentials(tls: ServerTls | undefined): ServerCredentials {
  if (tls === undefined) return ServerCredentials.createInsecure();
  const provider = newProvider(tls.material);
  // grpc-js takes the identity first and the authorities second; its declaration names them the other way round
  return experimental.createCertificateProviderServerCredentials(
    provider,
    tls.clientCertificates === 'none' ? null : provider,
    tls.clientCertificates === 'required',
  );
}

/** The credentials of calls, whose new connections have the newest certificates; undefined: plaintext. */
export function channelCredentials(tls: CurrentTls | undefined): ChannelCredentials {
  if (tls === undefined) return credentials.createInsecure();
  const provider = newProvider(tls);
  return experimental.createCertificateProviderChannelCredentials(
    provider,
    tls.current().certificate === undefined ? null : provider,
  );
}

type CaListener = experimental.CaCertificateUpdateListener;
type IdentityListener = experimental.IdentityCertificateUpdateListener;

/** grpc-js's own file watcher ends all new connections as soon as one file cannot be read. */
function newProvider(tls: CurrentTls): experimental.CertificateProvider {
  const ends = new Map<CaListener | IdentityListener, () => void>();
  const follow = (listener: CaListener | IdentityListener, tell: (material: TlsMaterial) => void): void => {
    ends.set(listener, tls.onChange(tell));
    // a listener that is called while it is added is not heard
    process.nextTick(() => {
      if (ends.has(listener)) tell(tls.current());
    });
  };
  const leave = (listener: CaListener | IdentityListener): void => {
    ends.get(listener)?.();
    ends.delete(listener);
  };
  return {
    addCaCertificateListener: (listener) => {
      follow(listener, ({ ca }) => {
        listener(ca === undefined ? null : { caCertificate: Buffer.from(ca) });
      });
    },
    removeCaCertificateListener: leave,
    addIdentityCertificateListener: (listener) => {
      follow(listener, ({ certificate, key }) => {
        listener(
          certificate === undefined || key === undefined
            ? null
            : { certificate: Buffer.from(certificate), privateKey: Buffer.from(key.reveal()) },
        );
      });
    },
    removeIdentityCertificateListener: leave,
  };
}
