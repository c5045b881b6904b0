import { credentials, experimental, ServerCredentials } from '@grpc/grpc-js';
import type { ChannelCredentials } from '@grpc/grpc-js';
import type { CurrentTls, ServerTls } from './tls-files.ts';
import type { TlsMaterial } from './tls-material.ts';

/** Returns the credentials of a gRPC port, undefined for plaintext. New connections use the newest certificates. */
export function serverCredentials(tls: ServerTls | undefined): ServerCredentials {
  if (tls === undefined) return ServerCredentials.createInsecure();
  const provider = newProvider(tls.material);
  // grpc-js takes the identity first and the authorities second, but its declaration names them the other way round
  return experimental.createCertificateProviderServerCredentials(
    provider,
    tls.clientCertificates === 'none' ? null : provider,
    tls.clientCertificates === 'required',
  );
}

/** Returns the credentials of calls, undefined for plaintext. New connections use the newest certificates. */
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
  const follow = (listener: CaListener | IdentityListener, update: (material: TlsMaterial) => void): void => {
    ends.set(listener, tls.onChange(update));
    // a listener that fires while it is being added is not called
    process.nextTick(() => {
      if (ends.has(listener)) update(tls.current());
    });
  };
  const leave = (listener: CaListener | IdentityListener): void => {
    ends.get(listener)?.();
    ends.delete(listener);
  };
  return {
    addCaCertificateListener: (listener) => {
      follow(listener, ({ ca }) => listener(ca === undefined ? null : { caCertificate: Buffer.from(ca) }));
    },
    removeCaCertificateListener: leave,
    addIdentityCertificateListener: (listener) => {
      follow(listener, ({ certificate, key }) =>
        listener(
          certificate === undefined || key === undefined
            ? null
            : { certificate: Buffer.from(certificate), privateKey: Buffer.from(key.reveal()) },
        ),
      );
    },
    removeIdentityCertificateListener: leave,
  };
}
