import type { JsonObject } from '../../json-bytes/find-objects.ts';

/**
 * Rules of a protocol for what an answer delivers. Only what was ordered counts: an answer without it is an error,
 * whatever its status line says, and costs nothing.
 */
export interface DeliveryRules {
  /** Reports whether a whole answer, or a part of one, has something that was ordered. */
  delivers(answer: JsonObject): boolean;
  /** Reports whether the model has ended an answer in which nothing was delivered: an empty text, or a refusal. */
  concludes(answer: JsonObject): boolean;
  /** The fault in an answer whose members do not name it as an error; undefined: there is none. */
  findFault?(answer: JsonObject): JsonObject | undefined;
  /** The list that holds what was ordered in a whole answer. */
  readonly list: string;
  /** Set if a long list is as good as its first element; it is not parsed further. */
  readonly isByFirst?: true;
  /** Set if bytes other than JSON are what was ordered. */
  readonly takesBytes?: true;
  /** Set if these bytes are never words. */
  readonly takesNoWords?: true;
  readonly events: EventRules;
}

/** The same for one event of a stream. */
export interface EventRules {
  delivers(event: JsonObject): boolean;
  /** Reports whether the event ends the answer. */
  ends(event: JsonObject): boolean;
  /** An event that mentions none of these words does not end the answer. */
  readonly endMarks: readonly Buffer[];
  /** Set if `[DONE]` ends an answer too. */
  readonly endsWithDone?: true;
}
