/** An answer in the vendor's error envelope. It is thrown where the fault is found, and written in one place. */
export class Refusal extends Error {
  readonly http: number;
  readonly type: string;
  readonly code: number;

  constructor({ http, type, code, text }: Trouble) {
    super(`${text} (${code})`);
    this.http = http;
    this.type = type;
    this.code = code;
  }
}

export type Trouble = { readonly http: number; readonly type: string; readonly code: number; readonly text: string };

const trouble = (http: number, type: string, code: number, text: string): Trouble => ({ http, type, code, text });

/** The vendor's codes. A code without a documented HTTP status has the status of the code that is most like it. */
const troubles: readonly Trouble[] = [
  trouble(400, 'bad_request_error', 2013, 'invalid params'),
  trouble(400, 'bad_request_error', 1042, 'invalid params, too many invisible characters'),
  trouble(
    401,
    'authorized_error',
    1004,
    "login fail: Please carry the API secret key in the 'Authorization' field of the request header",
  ),
  trouble(401, 'authorized_error', 2049, 'invalid api key'),
  trouble(402, 'insufficient_balance_error', 1008, 'insufficient balance'),
  trouble(402, 'insufficient_balance_error', 2056, 'usage limit reached'),
  trouble(402, 'insufficient_balance_error', 1028, 'quota used up'),
  trouble(402, 'insufficient_balance_error', 1030, 'quota used up'),
  trouble(402, 'insufficient_balance_error', 2061, 'the plan does not include this model'),
  trouble(422, 'unprocessable_entity_error', 1026, 'video description contains sensitive content'),
  trouble(422, 'unprocessable_entity_error', 1027, 'output contains sensitive content'),
  trouble(429, 'rate_limit_error', 1002, 'rate limit, please retry later'),
  trouble(429, 'rate_limit_error', 1039, 'token rate limit, please retry later'),
  trouble(429, 'rate_limit_error', 1041, 'connection limit, please retry later'),
  trouble(429, 'rate_limit_error', 2045, 'request growth limit, please retry later'),
  trouble(500, 'server_error', 1000, 'internal error'),
  trouble(500, 'server_error', 1001, 'request timeout'),
  trouble(500, 'server_error', 1024, 'internal error'),
  trouble(500, 'server_error', 1033, 'downstream error'),
  trouble(529, 'overloaded_error', 1000, 'the service is overloaded'),
];

export function invalidParams(detail: string): Refusal {
  return new Refusal(trouble(400, 'bad_request_error', 2013, `invalid params, ${detail}`));
}

export function unknownTask(): Refusal {
  return new Refusal(trouble(400, 'bad_request_error', 2013, 'invalid task_id'));
}

export function internalError(): Refusal {
  return new Refusal(trouble(500, 'server_error', 1000, 'internal error'));
}

/** The refusal of a vendor code or of an HTTP status. A status gets the first of the vendor's codes under it. */
export function refusalBy(number: number): Refusal | undefined {
  const known = troubles.find((entry) => entry.code === number) ?? troubles.find((entry) => entry.http === number);
  if (known) return new Refusal(known);
  if (number < 400 || number > 599) return undefined;
  return new Refusal(
    number < 500
      ? trouble(number, 'bad_request_error', 2013, 'invalid params')
      : trouble(number, 'server_error', 1000, 'internal error'),
  );
}

/** Returns the error of a failed task. Its code is a field of its own and no part of the message. */
export function failureBy(code: string): { readonly code: string; readonly message: string } {
  return { code, message: troubles.find((entry) => String(entry.code) === code)?.text ?? 'internal error' };
}

export function toWireRefusal(refusal: Refusal, requestId: string): unknown {
  return {
    type: 'error',
    error: { type: refusal.type, message: refusal.message, http_code: String(refusal.http) },
    request_id: requestId,
  };
}
