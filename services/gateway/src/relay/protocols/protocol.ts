import type { PriceFacts, Usage } from '../../domain/call-usage.ts';
import type { JsonObject } from '../../json-bytes/find-objects.ts';
import type { StateRules } from './state.ts';
import type { Counters } from './usage-counters.ts';

export type { JsonObject } from '../../json-bytes/find-objects.ts';

/** The parts of a request that the gateway reads. */
export interface CallContent {
  readonly path: string;
  /** The body, if it is JSON. */
  readonly json: JsonObject | undefined;
  /** The text fields, if the body is a form. */
  readonly fields: ReadonlyMap<string, string>;
  readonly bodyBytes: number;
}

/** The part of an answer that came. */
export interface AnswerPart {
  readonly usage: Usage | undefined;
  /** Bytes of text or sound. */
  readonly textBytes: number;
  /** The number of bytes that the upstream announced, undefined if it announced none. */
  readonly announcedBytes: number | undefined;
}

/** A fault as clients read it. */
export interface StreamFault {
  readonly message: string;
  readonly code: string;
  readonly status: number;
}

/** A member of the body that requests the usage of a stream. */
export interface UsageRequest {
  readonly name: string;
  readonly valueJson: string;
}

/** The streaming rules of a protocol. Each event is one JSON object. */
export interface StreamRules {
  /** An event without any of these words reports no usage, and is not parsed. */
  readonly usageMarks: readonly Buffer[];
  /** The counters that are known after this event. */
  countersAfter(event: JsonObject, before: Counters | undefined): Counters | undefined;
  /** The names of members with generated text, in their quotes. */
  readonly textNames: readonly Buffer[];
  /** Formats an event that reports a fault to the protocol's clients. It ends with a blank line. */
  faultFrame(fault: StreamFault): string;
  /** Set if the protocol also streams JSON lists. A fault is then an element like the body of an error. */
  readonly streamsLists?: true;
  /** The member of the body that requests usage, if the upstream needs one and the client has not set it. */
  askUsage?(json: JsonObject): UsageRequest | undefined;
  /** Matches the text of an error that refuses the request for usage. */
  readonly usageRefusal?: RegExp;
  /** Reports whether the upstream sent an event only because usage was requested. */
  isOnlyUsage?(event: JsonObject): boolean;
}

/** One family of routes: the usage in its bodies, answers and events. Pure. */
export interface Protocol {
  readonly name: string;
  /** Reports whether the client asks for a stream. */
  isStream(content: CallContent): boolean;
  priceFacts(content: CallContent): PriceFacts;
  /** The usage in a whole JSON answer. */
  usageIn(answer: JsonObject, content: CallContent): Usage | undefined;
  /** Set if `usageIn` reads only the usage, so that the rest of an answer need not be parsed. */
  readonly readsOnlyUsage?: true;
  /** The word that an answer has if it lists searches in addition to its usage. Such an answer is parsed whole. */
  readonly searchMark?: Buffer;
  /** The usage of a whole answer that does not report it. */
  usageOfWhole?(content: CallContent): Usage | undefined;
  /**
   * The usage of the part before the upstream broke off, for protocols with requests that do not bound their tokens.
   * Returns undefined if the part is worthless.
   */
  usageOfPart?(content: CallContent, part: AnswerPart): Usage | undefined;
  /** The names of members of which each with a text is an image, in quotes. */
  readonly imageMarks?: readonly Buffer[];
  readonly delivery: DeliveryRules;
  /** Set if bodies or answers have ids that belong to one account of an upstream. */
  readonly state?: StateRules;
  /** The body of an error answer, as the protocol's clients read it. */
  faultBody(fault: StreamFault): string;
  readonly stream: StreamRules;
}

/** Every name of a usage begins like this. Its counters are known when the event is parsed. */
export const USAGE_MARKS: readonly Buffer[] = [Buffer.from('"usage')];

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
