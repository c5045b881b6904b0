import type { JsonObject } from '../../json-bytes/find-objects.ts';

/**
 * Rules of a protocol for the deliveries of an answer. Only the ordered result counts: an answer without it is an
 * error, whatever its status line says, and is free.
 */
export interface DeliveryRules {
  /** Reports whether a whole answer, or a part of one, has something that was ordered. */
  delivers(answer: JsonObject): boolean;
  /** Reports whether the model has ended an answer without a delivery: with an empty text, or a refusal. */
  concludes(answer: JsonObject): boolean;
  /** Finds a fault in an answer with members that do not name it as an error. Returns undefined if there is none. */
  findFault?(answer: JsonObject): JsonObject | undefined;
  /** The list with the ordered result in a whole answer. */
  readonly list: string;
  /** Set if a long list can be judged by its first element. It is not parsed further. */
  readonly isByFirst?: true;
  /** Set if the ordered result is bytes other than JSON. */
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
  /** An event without any of these words does not end the answer. */
  readonly endMarks: readonly Buffer[];
  /** Set if `[DONE]` ends an answer too. */
  readonly endsWithDone?: true;
}
