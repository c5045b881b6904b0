import { parseAnsweredJson } from '@reelgate/platform/bounded-json';
import type { JsonObject, Usage } from '../protocols/protocol.ts';
import { addUsage } from '../protocols/quantities.ts';
import { readObject } from '../protocols/members.ts';
import { readAnswerUsage } from '../protocols/resolve-usage.ts';
import type { Charge } from '../charges/call-charges.ts';

/** The event with which an upstream ends a transcription of the client's sound. */
const TRANSCRIBED = 'conversation.item.input_audio_transcription.completed';
/** Only events of responses and transcriptions report usage. */
const MARKS = [Buffer.from('"response.'), Buffer.from(TRANSCRIBED)];
/** A longer event carries audio or a whole conversation, and is not parsed. */
const PARSED_BYTES_MAX = 256 * 1024;
/** A base64 character is six bits; a token of sound is fifty milliseconds at 24 kHz with 16 bits. */
const SOUND_CHARACTERS_A_TOKEN = 3200;
const TEXT_CHARACTERS_A_TOKEN = 4;
/** Responses under way at once; vendors allow one. */
const RUNNING_MAX = 100;

/** The usage of a session so far, from the upstream's messages. */
export interface SessionUsage {
  /** Reads one text message of the upstream. */
  see(message: Buffer): void;
  /**
   * Returns the charge of the session if it ends now. If the upstream ended it, a response of which nothing has come
   * costs nothing.
   */
  charge(endedByUpstream?: boolean): Charge;
}

/**
 * Sums the usage of finished responses and transcriptions. An unfinished response is estimated from its deltas. A failed
 * response counts only if a part of it has come, and a transcription only if the upstream reports its usage.
 */
export function openSessionUsage(): SessionUsage {
  let sum: Usage = { inputTokens: 0, cachedInputTokens: 0, outputTokens: 0 };
  let [done, unknown] = [0, 0];
  /** The received tokens of failed responses. */
  let failed = 0;
  /** The received tokens of unfinished responses, by the response's id. */
  const running = new Map<string, number>();
  const finish = (response: JsonObject): void => {
    const usage = readAnswerUsage(response);
    const id = readResponseId(response['id']);
    const come = running.get(id) ?? 0;
    running.delete(id);
    if (response['status'] === 'failed' && come === 0) return;
    if (usage?.inputTokens === undefined && usage?.outputTokens === undefined) {
      if (response['status'] === 'failed') failed += come;
      else unknown += response['status'] === 'completed' ? 1 : 0;
      return;
    }
    sum = addUsage(sum, usage);
    done += 1;
  };
  const transcribe = (event: JsonObject): void => {
    const usage = readAnswerUsage(event);
    if (usage === undefined) return;
    sum = addUsage(sum, usage);
    done += 1;
  };
  return {
    see: (message) => {
      const begin = message.subarray(0, PARSED_BYTES_MAX);
      if (!MARKS.some((mark) => begin.includes(mark))) return;
      const event = message.length > PARSED_BYTES_MAX ? undefined : parseMessage(message);
      if (event === undefined) return;
      const [type, id] = [String(event['type']), readResponseId(event['response_id'])];
      if (type === 'response.created' && running.size < RUNNING_MAX)
        running.set(readResponseId(readObject(event, 'response')['id']), 0);
      else if (type === 'response.done') finish(readObject(event, 'response'));
      else if (type === TRANSCRIBED) transcribe(event);
      else if (type.endsWith('.delta') && running.has(id))
        running.set(id, (running.get(id) ?? 0) + estimateTokens(type, event['delta']));
    },
    charge: (endedByUpstream = false) => {
      if (unknown > 0) return { basis: 'hold' };
      const come = running.values().reduce((all, tokens) => all + tokens, failed);
      if (come > 0)
        return { basis: 'estimate', usage: { ...sum, outputTokens: Math.ceil((sum.outputTokens ?? 0) + come) } };
      const isOpen = running.size > 0 && !endedByUpstream;
      if (done === 0) return { basis: isOpen ? 'hold' : 'released' };
      return { basis: isOpen ? 'estimate' : 'usage', usage: sum };
    },
  };
}

function estimateTokens(type: string, delta: unknown): number {
  if (typeof delta !== 'string') return 0;
  return delta.length / (/audio\.delta$/.test(type) ? SOUND_CHARACTERS_A_TOKEN : TEXT_CHARACTERS_A_TOKEN);
}

function readResponseId(id: unknown): string {
  return typeof id === 'string' ? id : '';
}

function parseMessage(message: Buffer): JsonObject | undefined {
  try {
    const value = parseAnsweredJson(message);
    return typeof value === 'object' && value !== null ? (value as JsonObject) : undefined;
  } catch {
    return undefined;
  }
}
