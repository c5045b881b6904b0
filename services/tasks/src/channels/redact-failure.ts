import type { PollResult } from './channel.ts';

/** Characters of a message that are read. The rest is cut off before the patterns run. */
const READ_MAX = 2000;
const MESSAGE_MAX = 500;
const HIDDEN = '…';
const NAMELESS = 'failed';
const CODE = /^[\w.:-]{1,64}$/;
const TOP_DOMAINS = 'com|net|org|io|ai|cn|co|dev|app|cloud|local|internal|test|example';
/** Patterns of what names the upstream, its machines or its records. They read foreign text, so none may backtrack. */
const PRIVATE: readonly RegExp[] = [
  /\b\w*request[ _-]?id\s*[:=]\s*[\w-]*/gi,
  /\b[a-z][a-z\d+.-]{0,20}:\/\/[^\s"'<>]+/gi,
  /\bdata:[\w/+.-]{1,80};base64,[\w+/=]*/gi,
  new RegExp(String.raw`\b(?:[a-z\d-]{1,63}\.){1,8}(?:${TOP_DOMAINS})\b(?::\d+)?(?:\/[^\s"'<>]*)?`, 'gi'),
  /\b\d{1,3}(?:\.\d{1,3}){3}\b(?::\d+)?/g,
  /\b(?=[a-z_-]{0,24}\d)[\w-]{16,}/gi,
  /\b\d{10,}\b/g,
];

/**
 * Removes from a failure what a client must not see: some upstreams write request ids, addresses and ids of their
 * records into its reason. Any other result of a poll is returned as it is.
 */
export function redactFailure(polled: PollResult, upstreamId: string): PollResult {
  if (!polled.found || polled.report.phase !== 'failed') return polled;
  const { code, message } = polled.report.failure;
  return {
    found: true,
    report: {
      ...polled.report,
      failure: {
        code: CODE.test(code) && code !== upstreamId ? code : NAMELESS,
        message: redactMessage(message, upstreamId),
      },
    },
  };
}

function redactMessage(message: string, upstreamId: string): string {
  const read = message.slice(0, READ_MAX);
  const named = upstreamId === '' ? read : read.replaceAll(upstreamId, HIDDEN);
  const text = PRIVATE.reduce((left, pattern) => left.replace(pattern, HIDDEN), named).trim();
  return [...text].slice(0, MESSAGE_MAX).join('');
}
