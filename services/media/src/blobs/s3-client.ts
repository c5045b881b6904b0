import { S3Client } from '@aws-sdk/client-s3';
import type { S3Address, S3Credentials } from './s3-address.ts';

const CONNECT_TIMEOUT_MS = 5000;
/** The time until the headers of an answer, and between two pieces of a body. */
const SILENCE_MS = 30_000;
const SOCKETS_MAX = 256;
const ATTEMPTS_MAX = 3;

/** Without credentials the SDK uses its own order: environment variables, a web identity, the machine's role. */
export function s3Client(
  { region, pathStyle }: S3Address,
  endpoint: string | undefined,
  credentials: S3Credentials | undefined,
): S3Client {
  const agent = { maxSockets: SOCKETS_MAX, keepAlive: true };
  return new S3Client({
    region,
    forcePathStyle: pathStyle,
    maxAttempts: ATTEMPTS_MAX,
    requestHandler: {
      connectionTimeout: CONNECT_TIMEOUT_MS,
      requestTimeout: SILENCE_MS,
      throwOnRequestTimeout: true,
      socketTimeout: SILENCE_MS,
      httpAgent: agent,
      httpsAgent: agent,
    },
    // many S3-compatible stores refuse the checksums that the SDK adds by default
    ...(endpoint === undefined
      ? {}
      : { endpoint, requestChecksumCalculation: 'WHEN_REQUIRED', responseChecksumValidation: 'WHEN_REQUIRED' }),
    ...(credentials === undefined ? {} : { credentials: revealed(credentials) }),
  });
}

function revealed({ accessKeyId, secretAccessKey, sessionToken }: S3Credentials) {
  return {
    accessKeyId: accessKeyId.reveal(),
    secretAccessKey: secretAccessKey.reveal(),
    ...(sessionToken === undefined ? {} : { sessionToken: sessionToken.reveal() }),
  };
}
