/*
 * What upstreams write into errors by which a reader would know them: their names, their sentences, their codes. It is
 * one table for every error that a client reads.
 */

/** The names of vendors, of their models and of the servers that relay them. Only as whole words. */
const NAMES: readonly string[] = [
  ...[
    'google(?: cloud)?',
    'deepmind',
    'gemini',
    'generative language api',
    'vertex(?: ai)?',
    'veo ?\\d*(?:\\.\\d)?',
    'imagen',
  ],
  ...['(?:azure )?openai', 'azure', 'chatgpt', 'anthropic', 'runway ?ml', 'kling(?: ?ai)?', 'kuaishou'],
  ...['volc(?:ano )?engine', 'byteplus', 'model ?ark', 'bytedance', 'doubao', 'seedance', 'jimeng', 'dreamina'],
  ...['dashscope', 'alibaba(?: cloud)?', 'aliyun', 'bailian', 'model studio', 'tongyi', 'qwen', 'wanx', 'happyhorse'],
  ...['minimax', 'hailuo', 'fal[.-]ai', 'openrouter', 'x\\.?ai', 'grok', 'luma ?labs', 'pixverse', 'shengshu', 'vidu'],
  ...['runware', 'black forest labs', 'lightricks', 'vllm(?:-omni)?', 'sglang(?:-diffusion)?', 'litellm', 'comfy ?ui'],
  ...['new-?api', 'one-?api', 'novita', 'siliconflow', 'wavespeed', 'muapi', 'piapi', 'atlascloud', 'tencent'],
  ...['hunyuan', 'qianfan', 'hugging ?face', 'cloudflare', 'deepseek', 'moonshot', 'zhipu', 'openai sora'],
];
/** Names that are words too. They count if they begin with a capital letter. */
const CAPITAL_NAMES: readonly string[] = [
  ...['Ark', 'Runway', 'Sora(?: \\d)?', 'Luma', 'Replicate', 'Claude', 'Bedrock', 'Flux', 'Wan ?\\d(?:\\.\\d)?'],
];
const LOCAL_NAMES =
  '谷歌|火山引擎|火山方舟|豆包|字节跳动|即梦|可灵|快手|阿里云|百炼|通义|万相|海螺|稀宇|腾讯|混元|智谱';

/** A name that is a part of an id, such as the id of a model or a tool, does not count as a word. */
const NOT_BEFORE = String.raw`(?<![\w./:@-])`;
const NOT_BEHIND = String.raw`(?![\w/:@-]|\.\w)`;
const asWords = (names: readonly string[], flags: string): RegExp =>
  new RegExp(`${NOT_BEFORE}(?:${names.join('|')})${NOT_BEHIND}`, flags);
const NAME_PATTERNS: readonly RegExp[] = [
  asWords(NAMES, 'gi'),
  asWords(CAPITAL_NAMES, 'g'),
  new RegExp(LOCAL_NAMES, 'g'),
];

/**
 * A sentence that contains one of these is removed as a whole: it sends the reader to the vendor, or only one vendor
 * writes it.
 */
const SENTENCES: readonly RegExp[] = [
  /\bsupport (?:code|ticket|id)s?\b|\bticket (?:id|number)\b/i,
  /\brepresentative\b|\bcontact (?:us|our|your|the|support|sales)\b|\breach out\b|\bcustomer (?:service|support)\b/i,
  /\bsend (?:us )?feedback\b|\bfile an? (?:bug|issue|ticket)\b|\bsubmit a ticket\b|联系客服|工单/i,
  /\b(?:not|n't|never) (?:be(?:en)? )?(?:charged|billed)\b/i,
  /\brisk control\b|\bgreen net\b|风控/i,
];

/** Codes inside of sentences, as vendors spell them. */
const SPELLED_CODES: readonly RegExp[] = [
  /\s*\((?:error )?(?:code|type):? ?[\w.-]{1,40}\)|\s*\([A-Z]{1,3}\d{2,5}\)/g,
  /\b(?:[A-Z][a-z]+){1,6}(?:Error|Failed|Failure|Exception|Detected|Detection|Suspect|Overdue|Denied|Exceeded|NotFound|Unavailable|Parameter|Violation|Illegal|Insufficient)(?:\.\w{1,40})*:?/g,
  /\b[A-Z][A-Z_]{2,40}(?:\.[A-Z][A-Z_\d]{1,40}){1,5}\b:?/g,
];
const HIDDEN = '…';
const HOSTS =
  /\b(?:[\w-]{1,63}\.){0,6}(?:googleapis|google|openai|anthropic|azure|aliyuncs|aliyun|volces|volcengine|bytepluses|klingai|kling|minimaxi?|runwayml|replicate|openrouter|fal|x|bfl|lumalabs|pixverse|vidu)\.(?:com|cn|ai|io|run|net)\b(?:\/[^\s"'<>]*)?/gi;
const MAIL = /[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}/g;
const PHRASES: readonly (readonly [RegExp, string])[] = [
  [/\bresponsible ai (practices|guidelines|policy|policies)\b/gi, 'content $1'],
  [/\bRAI\b/g, 'content'],
];

const SENTENCES_OF = new Intl.Segmenter('en', { granularity: 'sentence' });

/**
 * Removes the words by which a vendor would be recognized from a text. A name becomes `stand`, such as `the generator`.
 */
export function hideVendor(text: string, stand: string): string {
  const kept = isTelling(text)
    ? [...SENTENCES_OF.segment(text)].map(({ segment }) => (isTelling(segment) ? '' : segment)).join('')
    : text;
  const spelled = SPELLED_CODES.reduce((left, pattern) => left.replace(pattern, ''), kept.replace(MAIL, HIDDEN));
  const phrased = PHRASES.reduce((left, [pattern, phrase]) => left.replace(pattern, phrase), spelled);
  const named = NAME_PATTERNS.reduce((left, pattern) => left.replace(pattern, stand), phrased.replace(HOSTS, HIDDEN));
  if (named === text) return text;
  return named.replaceAll(`${stand} ${stand}`, stand).replaceAll(/[ \t]{2,}/g, ' ');
}

function isTelling(text: string): boolean {
  return SENTENCES.some((pattern) => pattern.test(text));
}

/** Ids with a name in them. */
export const VENDOR_IDS = new RegExp(
  String.raw`(?<![\w./:-])[\w./:-]{0,80}(?:gemini|veo-|imagen|sora-|openai|kling|doubao|seedance|dashscope|wanx|wan\d|qwen|happyhorse|minimax|hailuo|fal-ai|grok|pixverse|vidu|runware|vllm|sglang|litellm|comfyui|hunyuan)[\w./:-]{0,80}`,
  'gi',
);

/** The codes that all clients know, by patterns in the codes of vendors. The first match decides. */
const CODES: readonly (readonly [RegExp, string])[] = [
  [
    /sensitive|moderat|risk|inspection|safety|polic(?:y|ies)|nsfw|infring|copyright|content_?(?:filter|reject|block|violat)/i,
    'content_rejected',
  ],
  [/unsafe|prohibited|blocklist|illegal|audit|^spii$|no_media_generated/i, 'content_rejected'],
  [/cancel|aborted/i, 'cancelled'],
  [/expire/i, 'expired'],
  [/time_?d?_?out|deadline/i, 'upstream_timeout'],
  [
    /(?:image|video|audio|media|file|asset|url|download).*(?:invalid|too|unsupported|format|error|fail|load|unavailable|small|large)/i,
    'invalid_media',
  ],
  [/(?:unsupported|invalid|bad)_?(?:image|video|audio|media|file|asset|url)/i, 'invalid_media'],
  [
    /invalid|missing|param|argument|unsupported|not_supported|^value_error$|bad_?request|validation/i,
    'invalid_request',
  ],
  [/^(?:greater|less)_than|^(?:one|multiple)_of$|_too_(?:long|short|large|small)$/i, 'invalid_request'],
];
const OTHERWISE = 'failed';

/** The code that a client reads for the code of an upstream. */
export function toPublicCode(code: string): string {
  return CODES.find(([pattern]) => pattern.test(code))?.[1] ?? OTHERWISE;
}

/** Codes in the spelling of one vendor: several words that begin with capital letters. Those of SDKs are in other forms. */
const SPELLING = /^[A-Z][a-z]+(?:[A-Z][a-z]*)+(?:\.\w+)*$/;

export function isSpelledByVendor(code: string): boolean {
  return SPELLING.test(code);
}
