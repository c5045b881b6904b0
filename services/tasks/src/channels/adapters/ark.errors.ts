import type { ApiError, ErrorTable } from '@reelgate/adapter-kit/kit';
import { readObject, readText } from '@reelgate/adapter-kit/kit';

/**
 * Codes end in details or a parameter name, so each class matches a part of the code. Whether an error from status 500
 * on comes before acceptance is not documented.
 */
export const ARK_ERRORS: ErrorTable = {
  patterns: [
    [/SensitiveContentDetected|RiskDetection$/, 'content'],
    [/^(AuthenticationError|AccountOverdueError|AccessDenied)/, 'credential'],
    [/^(InvalidEndpoint|ContentSecurityDetectionError)/, 'channel'],
    [/^(InvalidParameter|MissingParameter)/, 'order'],
    [/^(Quota|RateLimit|ModelAccountRpm|ServerOverloaded)/, 'throttle'],
  ],
  statuses: { 503: 'unknown', 501: 'unknown' },
};

export function readError(body: unknown): ApiError | undefined {
  const error = readObject(readObject(body)['error']);
  const message = readText(error['message']);
  return message === undefined ? undefined : { code: readText(error['code']), message };
}
