import { Agent } from 'node:https';
import type { AgentOptions } from 'node:https';
import { S3Client } from '@aws-sdk/client-s3';
import { rereadTls } from '@reelgate/platform/tls/reread-tls';
import type { S3Address, S3Credentials } from './s3-address.ts';

const CONNECT_TIMEOUT_MS = 5000;
/** The time until the headers of an answer, and between two pieces of a body. */
const SILENCE_MS = 30_000;
const SOCKETS_MAX = 256;
const ATTEMPTS_MAX = 3;

/** Without credentials the SDK uses its own order: environment variables, a web identity, the machine's role. */
export function s3Client(
  { region, pathStyle, ca }: S3Address,
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
      httpsAgent: ca === undefined ? agent : agentTrusting(ca, agent),
    },
    // many S3-compatible stores refuse the checksums that the SDK adds by default
    ...(endpoint === undefined
      ? {}
      : { endpoint, requestChecksumCalculation: 'WHEN_REQUIRED', responseChecksumValidation: 'WHEN_REQUIRED' }),
    ...(credentials === undefined ? {} : { credentials: revealCredentials(credentials) }),
  });
}

/** Reads the authorities again for each connection. */
function agentTrusting(ca: string, options: AgentOptions): Agent {
  const newest = rereadTls({ ca });
  class TrustingAgent extends Agent {
    override createConnection(...[to, done]: Parameters<Agent['createConnection']>) {
      return super.createConnection({ ...to, ...newest() }, done);
    }
  }
  return new TrustingAgent(options);
}

function revealCredentials({ accessKeyId, secretAccessKey, sessionToken }: S3Credentials) {
  return {
    accessKeyId: accessKeyId.reveal(),
    secretAccessKey: secretAccessKey.reveal(),
    ...(sessionToken === undefined ? {} : { sessionToken: sessionToken.reveal() }),
  };
}
