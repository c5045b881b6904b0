import type { ConnectError } from '@connectrpc/connect';
import { findTrailerError, headerGrpcStatus, setTrailerStatus } from '@connectrpc/connect/protocol-grpc';

const DETAILS = 'grpc-status-details-bin';

/** The binary `google.rpc.Status` of an error, with its details. */
export function encodeStatusDetails(error: ConnectError): Buffer {
  const trailer = new Headers();
  setTrailerStatus(trailer, error);
  return Buffer.from(trailer.get(DETAILS) ?? '', 'base64');
}

/** Decodes a binary `google.rpc.Status`. */
export function decodeStatus(code: number, message: string, details: Buffer | undefined): ConnectError | undefined {
  const trailer = new Headers({ [headerGrpcStatus]: String(code), 'grpc-message': encodeURIComponent(message) });
  if (details !== undefined) trailer.set(DETAILS, details.toString('base64').replace(/=+$/, ''));
  return findTrailerError(trailer);
}
