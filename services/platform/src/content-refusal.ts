/** The words of an error that refuses the content of a request, not the request or its credential. */
export interface ContentRefusal {
  /** The error's message for people, undefined if it has none. */
  readonly message: string | undefined;
  /** The kinds of content that it names, such as `violence`. */
  readonly reasons: readonly string[];
}

type Members = Readonly<Record<string, unknown>>;

/** The parts of an error that are looked at, and their depth. An error of a provider has a few dozen. */
const PARTS_MAX = 500;
const DEPTH_MAX = 8;
const REASONS_MAX = 8;
const REASON_LENGTH_MAX = 80;

/** The members by which providers name the kind of an error. */
const CODE_NAMES: ReadonlySet<string> = new Set(
  ['code', 'type', 'error_type', 'error_code', 'errorCode', 'status', 'status_msg', 'reason', 'name', 'stop_reason']
    .concat(['finish_reason', 'finishReason', 'blockReason', 'block_reason', 'action', 'category', '__type'])
    .concat(['failure_code', 'failureCode', 'error_name', 'key']),
);
/** Members that only a refusal of content has, if there is something in them. */
const TELLING_NAMES: ReadonlySet<string> = new Set(
  ['blockReason', 'block_reason', 'content_filter_result', 'content_filter_results', 'content_filters']
    .concat(['flagged_input', 'flagged_categories', 'safety_violations', 'moderation_details', 'safetyRatings'])
    .concat(['raiFilteredReason', 'raiMediaFilteredReasons']),
);
const REASONS_NAMES: ReadonlySet<string> = new Set(
  ['reasons', 'flagged_categories', 'safety_violations', 'raiMediaFilteredReasons'].concat([
    'blockReason',
    'block_reason',
    'categories',
    'moderation_categories',
  ]),
);
/** The codes of providers, without regard to case and to the marks between their words. */
const CODES: readonly RegExp[] = [
  // OpenAI, Azure and compatible servers
  /content(filter|polic|violation|moderat|safety|blocked|rejected|risk|sensitive)/,
  /responsibleai|moderation(blocked|failed|error|refus|reject)|^moderation$|^moderated$|invalidprompt$|safetyviolation/,
  /promptblocked|promptrejected|inputmoderation|outputmoderation|sensitiveword|newsensitive|jailbreak|cyberpolicy/,
  // Google
  /^(image|prompt)?safety$|prohibitedcontent|^blocklist$|^(image)?recitation$|^spii$|modelarmor|blockedbysafety/,
  // Bedrock, Alibaba, Volcengine, xAI, Runway and others
  /guardrail|datainspection|sensitivecontent|riskdetection|safetycheck|^safety(input|output|filter)?/,
  /riskcontrol|nsfw|unsafecontent|harmfulcontent|toxiccontent|inappropriatecontent|policyviolation|^refusal$/,
];
/** Words about content, for providers that send no code. */
const SUBJECT = String.raw`(contents?|prompts?|inputs?|outputs?|images?|text|messages?|requests?|media|videos?)`;
const ACT = String.raw`(filter|moderat|flagged|violat|prohibited|sensitive|unsafe|nsfw|guardrail|inappropriate|safety|risk\b)`;
const MESSAGES = new RegExp(
  String.raw`\b${SUBJECT}\b.{0,80}\b${ACT}|\b${ACT}.{0,80}\b${SUBJECT}\b|\bmoderation\b|content polic|usage guidelines`,
  'i',
);
/** An error about these concerns the credential, whatever the request contains. */
const OWNERS =
  /\b(accounts?|organi[sz]ations?|api[ -]?keys?|credentials?|subscriptions?|billing|quota|suspended|deactivated|banned)\b/i;
const THROTTLED = 429;
const WORDS_MAX = 1000;
/** The size of one request, in words and in numbers of OpenAI and compatible servers. */
const TOO_LARGE =
  /\b(request|prompt|input|message|context)s?( body| size| length| tokens?)?( is| are)? too (large|long|big)\b/i;
const LIMIT = /\blimit:? (\d[\d,]{0,15})/i;
const ASKED = /\brequested:? (\d[\d,]{0,15})/i;
/** These concern the credential, its balance or its rate, whatever else the error contains. */
const NEVER: ReadonlySet<number> = new Set([401, 402, 407, 408, 429]);
/**
 * The statuses for which a message about content counts without a code. From 500 on, and for a credential, only a code
 * counts.
 */
const SAYS_IN_WORDS: ReadonlySet<number> = new Set([400, 403, 406, 409, 422, 424, 451]);

/**
 * Reads whether the body of an error refuses the content of the request. Providers send such refusals with many
 * statuses, also with 403, with which they refuse a credential too. Returns undefined if the body does not refuse
 * content.
 */
export function readContentRefusal(status: number, body: unknown): ContentRefusal | undefined {
  if (NEVER.has(status)) return undefined;
  const seen = listParts(body);
  if (!seen.some(isTelling) && !(SAYS_IN_WORDS.has(status) && isSaidInWords(seen))) return undefined;
  return { message: findMessage(seen), reasons: listReasons(seen) };
}

/**
 * Reads whether an error with 429 refuses one request for its size. Waiting does not shrink the request, so the error
 * limits no other request. Returns the message of the error, or undefined if it is not about size.
 */
export function readSizeRefusal(status: number, body: unknown): string | undefined {
  if (status !== THROTTLED) return undefined;
  return listParts(body)
    .flatMap(({ name, value }) => (isMessage(name) && typeof value === 'string' ? [value.slice(0, WORDS_MAX)] : []))
    .find((words) => TOO_LARGE.test(words) || asksAboveLimit(words));
}

function asksAboveLimit(words: string): boolean {
  const [limit, asked] = [LIMIT, ASKED].map((pattern) => Number(pattern.exec(words)?.[1]?.replaceAll(',', '')));
  return limit !== undefined && asked !== undefined && asked > limit;
}

interface Part {
  readonly name: string;
  readonly value: unknown;
}

/** Lists the named values of an error, including the values of inner objects and lists. */
function listParts(body: unknown): readonly Part[] {
  const parts: Part[] = [];
  const walk = (name: string, value: unknown, depth: number): void => {
    if (parts.length >= PARTS_MAX || depth > DEPTH_MAX) return;
    parts.push({ name, value });
    if (Array.isArray(value)) for (const inner of value) walk(name, inner, depth + 1);
    else if (typeof value === 'object' && value !== null)
      for (const [innerName, inner] of Object.entries(value as Members)) walk(innerName, inner, depth + 1);
  };
  walk('', body, 0);
  return parts;
}

function isTelling({ name, value }: Part): boolean {
  if (TELLING_NAMES.has(name) && isFilled(value)) return true;
  // only the errors of a moderation have a list of reasons
  if (name === 'reasons' && Array.isArray(value) && value.some((one) => typeof one === 'string')) return true;
  if (!CODE_NAMES.has(name) || typeof value !== 'string') return false;
  const code = value.toLowerCase().replaceAll(/[^a-z\d]/g, '');
  return CODES.some((pattern) => pattern.test(code));
}

function isFilled(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0;
  if (typeof value === 'object' && value !== null) return Object.keys(value).length > 0;
  return value !== undefined && value !== null && value !== '' && value !== false;
}

function isSaidInWords(parts: readonly Part[]): boolean {
  const words = parts.flatMap(({ name, value }) => (isMessage(name) && typeof value === 'string' ? [value] : []));
  return words.some((text) => MESSAGES.test(text)) && !words.some((text) => OWNERS.test(text));
}

function isMessage(name: string): boolean {
  return name === 'message' || name === 'error' || name === 'detail' || name === 'msg' || name === 'error_message';
}

function findMessage(parts: readonly Part[]): string | undefined {
  const found = parts.find(({ name, value }) => isMessage(name) && typeof value === 'string' && value !== '');
  return found?.value as string | undefined;
}

function listReasons(parts: readonly Part[]): readonly string[] {
  const words = parts.flatMap(({ name, value }) =>
    REASONS_NAMES.has(name) && typeof value === 'string' && value.length <= REASON_LENGTH_MAX ? [value] : [],
  );
  return [...new Set(words)].slice(0, REASONS_MAX);
}
