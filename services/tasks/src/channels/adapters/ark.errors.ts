import { readObject, readText } from '../json-fields.ts';

export interface ArkError {
  readonly code: string;
  readonly message: string;
}

type FaultClass = 'channel' | 'throttle' | 'content' | 'order';

/** Codes end in details or a parameter name, so each class matches a part of the code. The first match counts. */
const CLASSES: readonly (readonly [RegExp, FaultClass])[] = [
  [/SensitiveContentDetected|RiskDetection$/, 'content'],
  [/^(InvalidEndpoint|ContentSecurityDetectionError|AuthenticationError|AccountOverdueError|AccessDenied)/, 'channel'],
  [/^(InvalidParameter|MissingParameter)/, 'order'],
];
const CLASS_OF_STATUS: Readonly<Record<number, FaultClass>> = {
  400: 'order',
  413: 'order',
  422: 'order',
  429: 'throttle',
};

export function readError(body: unknown): ArkError | undefined {
  const error = readObject(readObject(body)['error']);
  const message = readText(error['message']);
  return message === undefined ? undefined : { code: readText(error['code']) ?? '', message };
}

/**
 * Decides whose fault a refusal is. Status 429 is a throttle, whatever its code. An unknown error is the channel's
 * fault.
 */
export function classifyRefusal(status: number, error: ArkError | undefined): FaultClass {
  if (status === 429) return 'throttle';
  return CLASSES.find(([codes]) => codes.test(error?.code ?? ''))?.[1] ?? CLASS_OF_STATUS[status] ?? 'channel';
}
