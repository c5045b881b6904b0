import { objectOf, textOf } from '../json-fields.ts';

export interface ArkError {
  readonly code: string;
  readonly message: string;
}

type FaultClass = 'channel' | 'throttle' | 'content' | 'order';

/** Codes end in what was found or in which parameter, so a class knows them by a part. The first that fits counts. */
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

export function errorOf(body: unknown): ArkError | undefined {
  const error = objectOf(objectOf(body)['error']);
  const message = textOf(error['message']);
  return message === undefined ? undefined : { code: textOf(error['code']) ?? '', message };
}

/** Whose fault a refusal is. A throttle is told by its status, whatever limit it names; what is not known is the channel's. */
export function faultOf(status: number, error: ArkError | undefined): FaultClass {
  if (status === 429) return 'throttle';
  return CLASSES.find(([codes]) => codes.test(error?.code ?? ''))?.[1] ?? CLASS_OF_STATUS[status] ?? 'channel';
}
