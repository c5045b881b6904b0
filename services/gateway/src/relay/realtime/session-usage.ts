import { parseAnsweredJson } from '@reelgate/platform/bounded-json';
import type { JsonObject } from '../protocols/protocol.ts';
import type { Usage } from '../../domain/call-usage.ts';
import { addUsage } from '../protocols/quantities.ts';
import { hasContent, readObject } from '../protocols/members.ts';
import { readAnswerUsage } from '../protocols/resolve-usage.ts';
import type { CallCharge } from '../../domain/call-order.ts';

/** The event with which an upstream ends a transcription of the client's sound. */
const TRANSCRIBED = 'conversation.item.input_audio_transcription.completed';
/** Only events of responses and transcriptions report usage. */
const MARKS = [Buffer.from('"response.'), Buffer.from(TRANSCRIBED)];
/** A longer event carries audio or a whole conversation, and is not parsed. */
const PARSED_BYTES_MAX = 256 * 1024;
/** A base64 character is six bits, and a token of sound is fifty milliseconds at 24 kHz with 16 bits. */
const SOUND_CHARACTERS_A_TOKEN = 3200;
const TEXT_CHARACTERS_A_TOKEN = 4;
/** The maximum number of concurrent responses. Vendors allow one. */
const RUNNING_MAX = 100;
/** The number of ended responses that are remembered, in case their end is reported again. */
const ENDED_MAX = 1000;

/** The usage of a session so far, from the upstream's messages. */
export interface SessionUsage {
  /** Reads one text message of the upstream. */
  see(message: Buffer): void;
  /**
   * Returns the charge of the session if it ends now. If the upstream ended it, a response without any output is free.
   */
  charge(endedByUpstream?: boolean): CallCharge;
}

/**
 * Sums the usage of finished responses, each once, and of transcriptions. An unfinished response is estimated from its deltas. A failed
 * response counts only if a part of it has come, and a transcription only if the upstream reports its usage.
 */
export function newSessionUsage(): SessionUsage {
  let sum: Usage = { inputTokens: 0, cachedInputTokens: 0, outputTokens: 0 };
  let [responses, transcriptions] = [0, 0];
  /** The received tokens of responses that ended without usage, and not as completed. */
  let broken = 0;
  /** The received tokens of completed responses without usage, by the response's id. */
  const unknown = new Map<string, number>();
  const charged = newEndedIds();
  /** The received tokens of unfinished responses, by the response's id. */
  const running = new Map<string, number>();
  const finish = (response: JsonObject): void => {
    const usage = readAnswerUsage(response);
    const id = readResponseId(response['id']);
    const come = running.get(id) ?? 0;
    running.delete(id);
    if (charged.has(id) || (response['status'] === 'failed' && come === 0)) return;
    if (usage !== undefined && (usage.inputTokens ?? 0) + (usage.outputTokens ?? 0) > 0) {
      sum = addUsage(sum, usage);
      responses += 1;
      charged.add(id);
      unknown.delete(id);
    } else if (response['status'] !== 'completed') broken += come;
    else if (usage === undefined || come > 0 || hasContent(response['output'])) {
      if (unknown.size < RUNNING_MAX) unknown.set(id, (unknown.get(id) ?? 0) + come);
      else broken += come;
    }
  };
  const transcribe = (event: JsonObject): void => {
    const usage = readAnswerUsage(event);
    if (usage === undefined) return;
    sum = addUsage(sum, usage);
    transcriptions += 1;
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
      if (unknown.size > 0 && responses === 0) return { basis: 'hold' };
      const come = [...running.values(), ...unknown.values()].reduce((all, tokens) => all + tokens, broken);
      if (come > 0)
        return { basis: 'estimate', usage: { ...sum, outputTokens: Math.ceil((sum.outputTokens ?? 0) + come) } };
      const isOpen = unknown.size > 0 || (running.size > 0 && !endedByUpstream);
      if (responses + transcriptions === 0) return { basis: isOpen ? 'hold' : 'released' };
      return { basis: isOpen ? 'estimate' : 'usage', usage: sum };
    },
  };
}

/** The ids of the responses that are charged: an upstream can report the end of a response again. */
function newEndedIds(): { has(id: string): boolean; add(id: string): void } {
  const ids = new Set<string>();
  return {
    has: (id) => ids.has(id),
    add: (id) => {
      if (id === '') return;
      ids.add(id);
      const [oldest] = ids;
      if (ids.size > ENDED_MAX && oldest !== undefined) ids.delete(oldest);
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
