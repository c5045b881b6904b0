/** What an upstream reveals of itself. No client may see any of it. */
export const UPSTREAM_IDENTITIES = {
  organization: 'org-UpstreamSecretOrganization',
  project: 'proj_UpstreamSecretProject',
  requestId: 'req_upstreamsecretrequest',
  cookie: 'upstream_secret_cookie',
  server: 'upstream-secret-server',
  ray: 'upstream-secret-ray',
  account: 'upstream-secret-account',
  host: 'secret-host.upstream.example',
  trace: 'upstream-secret-trace',
} as const;

/** Keys of the channels of a test, by the first segment of their path. */
export const RELAY_KEYS: Readonly<Record<string, string>> = {
  main: 'sk-upstream-secret-main-key',
  spare: 'sk-upstream-secret-spare-key',
  slash: 'sk-upstream-secret-slash-key',
  anthropic: 'sk-ant-upstream-secret-key',
  google: 'AIza-upstream-secret-key',
};

/** The upstream's names of the models. */
export const UPSTREAM_MODELS = {
  main: 'vendor-secret-model-2026',
  spare: 'spare-secret-model-2026',
  slash: 'slash-secret-model-2026',
  anthropic: 'anthropic-secret-model-2026',
  google: 'google-secret-model-2026',
} as const;

/** A key as vendors show it in an error: its beginning and its end. */
const shownKey = (key: string): string => `${key.slice(0, 7)}${'*'.repeat(12)}${key.slice(-4)}`;

export const NEVER_SEEN: readonly string[] = [
  ...Object.values(UPSTREAM_IDENTITIES),
  ...Object.values(UPSTREAM_MODELS),
  ...Object.values(RELAY_KEYS),
  ...Object.values(RELAY_KEYS).map(shownKey),
  'relay-secret',
];

/** The headers of every answer. A client may see some of them, and must not see the others. */
export const IDENTITY_HEADERS: Readonly<Record<string, string>> = {
  'openai-organization': UPSTREAM_IDENTITIES.organization,
  'openai-project': UPSTREAM_IDENTITIES.project,
  'x-request-id': UPSTREAM_IDENTITIES.requestId,
  'request-id': UPSTREAM_IDENTITIES.requestId,
  'set-cookie': `session=${UPSTREAM_IDENTITIES.cookie}; Path=/; HttpOnly`,
  server: UPSTREAM_IDENTITIES.server,
  via: `1.1 ${UPSTREAM_IDENTITIES.host}`,
  'cf-ray': UPSTREAM_IDENTITIES.ray,
  'anthropic-organization-id': UPSTREAM_IDENTITIES.organization,
  'x-goog-project': UPSTREAM_IDENTITIES.project,
  'x-amzn-requestid': UPSTREAM_IDENTITIES.requestId,
  'x-ratelimit-limit-requests': '777777',
  'x-ratelimit-remaining-requests': '776776',
  'x-cloud-trace-context': UPSTREAM_IDENTITIES.trace,
  'alt-svc': `h3="${UPSTREAM_IDENTITIES.host}:443"`,
  'x-served-by': UPSTREAM_IDENTITIES.host,
  'x-debug-account': UPSTREAM_IDENTITIES.account,
  'strict-transport-security': 'max-age=31536000',
};

/** A header that is useful to the client and must arrive. */
export const USEFUL_HEADER = { name: 'openai-processing-ms', value: '42' } as const;

/** The text of every vendor's error. Some parts of it must not be passed on. */
export function errorText(model: string, key: string): string {
  const { organization, host, requestId } = UPSTREAM_IDENTITIES;
  return (
    `Upstream trouble with ${model} in organization ${organization}, key ${shownKey(key)}, ` +
    `at https://${host}/ (${requestId}).`
  );
}
