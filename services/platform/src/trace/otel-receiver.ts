import http from 'node:http';
import type { IncomingMessage } from 'node:http';
import https from 'node:https';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer';
import type { ReadableSpan } from '@opentelemetry/sdk-trace';
import { describeError } from '../lifecycle/when-reachable.ts';
import type { ReceiverSettings } from './trace-settings.ts';

/** An answer has a message in protobuf, or a text for people. */
const ANSWER_BYTES_MAX = 64 * 1024;
/** The answers after which the standard asks for a repeat. */
const REPEATED_STATUSES: ReadonlySet<number | undefined> = new Set([429, 502, 503, 504]);

const zipped = promisify(gzip);

/**
 * The outcome for spans: accepted, except `rejected` of them, or refused, so that a repeat is useless, or not accepted
 * because the receiver is away or busy.
 */
export type SendResult =
  | { readonly outcome: 'taken'; readonly rejected: number }
  | { readonly outcome: 'refused' | 'away'; readonly fault: string };

/** The receiver of the spans, such as a collector. */
export interface SpanReceiver {
  /** Sends spans once. Never rejects. */
  send(spans: readonly ReadableSpan[], signal: AbortSignal): Promise<SendResult>;
  /** Closes the idle connections. */
  close(): void;
}

/** Sends spans as OTLP over HTTP, in protobuf. Connections are kept for the next batch. */
export function otlpReceiver({ url, headers, tls, isZipped }: ReceiverSettings): SpanReceiver {
  const target = new URL(url);
  const agent =
    target.protocol === 'https:' ? new https.Agent({ keepAlive: true, ...tls }) : new http.Agent({ keepAlive: true });
  const request = target.protocol === 'https:' ? https.request : http.request;
  const ask = (body: Uint8Array, signal: AbortSignal): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const sent = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, value.reveal()]));
      const own = { 'content-type': 'application/x-protobuf', ...(isZipped ? { 'content-encoding': 'gzip' } : {}) };
      request(target, { method: 'POST', agent, signal, headers: { ...sent, ...own } }, resolve)
        .on('error', reject)
        .end(body);
    });
  return {
    send: async (spans, signal) => {
      try {
        const message = ProtobufTraceSerializer.serializeRequest([...spans]) ?? new Uint8Array();
        const answer = await ask(isZipped ? await zipped(message) : message, signal);
        // the status has said it, even if the rest does not come
        return toSendResult(answer.statusCode, await readHead(answer).catch(() => new Uint8Array()));
      } catch (error) {
        return { outcome: 'away', fault: describeError(error) };
      }
    },
    close: () => agent.destroy(),
  };
}

function toSendResult(status: number | undefined, body: Uint8Array): SendResult {
  if (status !== undefined && status >= 200 && status < 300) return { outcome: 'taken', rejected: readRejected(body) };
  return {
    outcome: REPEATED_STATUSES.has(status) ? 'away' : 'refused',
    fault: `the receiver answered ${String(status)}`,
  };
}

/** Reads how many spans a receiver rejected. An unreadable answer counts as no rejection. */
function readRejected(body: Uint8Array): number {
  try {
    const { partialSuccess } = ProtobufTraceSerializer.deserializeResponse(body);
    return partialSuccess?.rejectedSpans ?? 0;
  } catch {
    return 0;
  }
}

/** Reads an answer to its end, so that its connection can be used again, or closes it at the bound. */
async function readHead(answer: IncomingMessage): Promise<Uint8Array> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of answer as AsyncIterable<Buffer>) {
    parts.push(part);
    bytes += part.length;
    if (bytes > ANSWER_BYTES_MAX) break;
  }
  return Buffer.concat(parts);
}
