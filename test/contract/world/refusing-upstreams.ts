/** The refusals of a create by an upstream: the status and the vendor's body. */
export const REFUSING: Readonly<Record<string, readonly [status: number, body: object]>> = {
  401: [401, { type: 'error', error: { type: 'authorized_error', message: 'login fail (1004)', http_code: '401' } }],
  402: [
    402,
    { type: 'error', error: { type: 'insufficient_balance_error', message: 'balance (1008)', http_code: '402' } },
  ],
  403: [403, { type: 'error', error: { type: 'authorized_error', message: 'forbidden (1004)', http_code: '403' } }],
  429: [429, { type: 'error', error: { type: 'rate_limit_error', message: 'rate limit (1002)', http_code: '429' } }],
  503: [503, { type: 'error', error: { type: 'server_error', message: 'internal error (1000)', http_code: '503' } }],
  'base-resp': [200, { base_resp: { status_code: 1008, status_msg: 'insufficient balance' } }],
};

/** Models whose first channel refuses in this way, and whose second channel is the sandbox. */
export const RETRIED = Object.keys(REFUSING).map((how) => [how, `Retried-${how}`] as const);
/** Models whose only channel refuses in this way. */
export const ALONE = ['401', '402', '403'].map((how) => [how, `Alone-${how}`] as const);
