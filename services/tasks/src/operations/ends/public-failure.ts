import { readContentRefusal } from '@reelgate/platform/content-refusal';
import { hideVendor, toPublicCode, VENDOR_IDS } from '@reelgate/platform/vendor-traits';
import type { Failure } from '../../domain/task.ts';

/** Characters of a message that are read. The rest is cut off before the patterns run. */
const READ_MAX = 2000;
const MESSAGE_MAX = 500;
const CODE_MAX = 64;
const HIDDEN = '…';
const STAND = 'the generator';
const TOP_DOMAINS = 'com|net|org|io|ai|cn|co|dev|app|cloud|local|internal|test|example';
/**
 * Patterns of the names of the upstream, its machines and its records. They read foreign text, so they must not
 * backtrack.
 */
const PRIVATE: readonly RegExp[] = [
  /\b\w*request[ _-]?id\s*[:=]\s*[\w-]*/gi,
  /\b[a-z][a-z\d+.-]{0,20}:\/\/[^\s"'<>]+/gi,
  /\bdata:[\w/+.-]{1,80};base64,[\w+/=]*/gi,
  new RegExp(String.raw`\b(?:[a-z\d-]{1,63}\.){1,8}(?:${TOP_DOMAINS})\b(?::\d+)?(?:\/[^\s"'<>]*)?`, 'gi'),
  /\b\d{1,3}(?:\.\d{1,3}){3}\b(?::\d+)?/g,
  VENDOR_IDS,
  /\b(?=[a-z_-]{0,24}\d)[\w-]{16,}/gi,
  /\b\d{10,}\b/g,
];
/** The codes that an upstream may say in our words. Others of ours would blame this service. */
const KEPT: ReadonlySet<string> = new Set([
  ...['cancelled', 'content_rejected', 'expired', 'failed', 'invalid_media', 'invalid_request', 'no_result'],
  ...['result_removed', 'upstream_timeout'],
  // the numbers of the contract of Alpha
  ...['1000', '1001', '1002', '1013', '1024', '1026', '1027', '1033', '1039', '1041', '1042', '2013', '2045'],
]);
const CONTENT = 'content_rejected';
const IN_WORDS = 422;
/** The sentences for a client if no word of the upstream may be shown. */
const SENTENCES: Readonly<Record<string, string>> = {
  content_rejected: 'the generator refused the content',
  invalid_media: 'the generator could not use the media of this task',
  invalid_request: 'the generator refused the parameters of this task',
};
const OTHERWISE = 'the generator ended the task without a result';

/**
 * The failure that a client reads. The code of an upstream becomes a code that all clients know. Its words are shown
 * without the names of the vendor, its machines and its records.
 */
export function toPublicFailure({ code: said, message }: Failure, upstreamId = ''): Failure {
  const code = toCode(said, message);
  const words = redact(message, upstreamId);
  return { code, message: /\p{L}{2}/u.test(words) ? words : (SENTENCES[code] ?? OTHERWISE) };
}

/** The failure in the words of the upstream, for operators. */
export function toUpstreamFailure({ code, message }: Failure): Failure {
  return { code: code.slice(0, CODE_MAX), message: message.slice(0, READ_MAX) };
}

/** A code that says little is replaced if the words refuse the content. */
function toCode(said: string, message: string): string {
  const code = KEPT.has(said) ? said : toPublicCode(said.slice(0, CODE_MAX));
  const isOfContent =
    code === 'failed' && readContentRefusal(IN_WORDS, { message: message.slice(0, READ_MAX) }) !== undefined;
  return isOfContent ? CONTENT : code;
}

function redact(message: string, upstreamId: string): string {
  const read = message.slice(0, READ_MAX);
  const unnamed = hideVendor(upstreamId === '' ? read : read.replaceAll(upstreamId, HIDDEN), STAND);
  const text = PRIVATE.reduce((left, pattern) => left.replace(pattern, HIDDEN), unnamed).trim();
  return [...text].slice(0, MESSAGE_MAX).join('');
}
