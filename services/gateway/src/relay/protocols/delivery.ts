import { quoteWords } from './mentions.ts';
import type { JsonObject } from '../../json-bytes/find-objects.ts';
import type { DeliveryRules, EventRules } from './protocol.ts';
import { hasContent, hasContentBut, readObjects, readObject } from './members.ts';

const never = (): boolean => false;
const isText = (value: unknown): boolean => typeof value === 'string' && value !== '';
const readType = ({ type }: JsonObject): string => (typeof type === 'string' ? type : '');

/** `error` of OpenRouter and Mistral, `network_error` of Zhipu, `abort` of vLLM, DeepSeek's lack of resources, and others. */
const FAILED = /(^|_)(error|failed|failure|abort(ed)?|cancell?ed|time_?out)(_|$)|insufficient_system_resource/i;
const isFailure = (reason: unknown): boolean => typeof reason === 'string' && FAILED.test(reason);
const isFailedChoice = ({ error, finish_reason: reason }: JsonObject): boolean =>
  hasContent(error) || isFailure(reason);
const listGoodChoices = (answer: JsonObject): readonly JsonObject[] =>
  readObjects(answer, 'choices').filter((choice) => !isFailedChoice(choice));
/** The names under which vendors deliver. Members with other names describe the message. */
const DELIVERED =
  /content|text|reason|think|refusal|tool|function|audio|image|video|media|part|output|transcript|citation/i;
/** The elements of a list have content in addition to their type, as a text or a call. */
const hasPart = (part: JsonObject): boolean => hasContentBut(part, 'type', 'id', 'index', 'status', 'annotations');
const hasParts = (value: unknown): boolean =>
  Array.isArray(value)
    ? value.some((part: unknown) =>
        typeof part === 'object' && part !== null ? hasPart(part as JsonObject) : hasContent(part),
      )
    : hasContent(value);
const messageDelivers = (message: JsonObject): boolean =>
  Object.entries(message).some(([name, value]) => DELIVERED.test(name) && hasParts(value));
const chatDelivers = (answer: JsonObject): boolean =>
  listGoodChoices(answer).some(
    (choice) =>
      isText(choice['text']) ||
      messageDelivers(readObject(choice, 'message')) ||
      messageDelivers(readObject(choice, 'delta')),
  );
const chatConcludes = (answer: JsonObject): boolean =>
  listGoodChoices(answer).some(({ finish_reason }) => isText(finish_reason));

export const chatDelivery: DeliveryRules = {
  delivers: chatDelivers,
  concludes: chatConcludes,
  // OpenRouter and gateways like it: the choice has failed
  findFault: (answer) => {
    const [failed] = listGoodChoices(answer).length > 0 ? [] : readObjects(answer, 'choices').filter(isFailedChoice);
    return failed === undefined ? undefined : readObject(failed, 'error');
  },
  list: 'choices',
  events: {
    delivers: chatDelivers,
    ends: chatConcludes,
    endMarks: quoteWords('finish_reason'),
    endsWithDone: true,
  },
};

/** The work is done later, and the upstream has accepted the order. */
const RESPONSE_TAKEN: ReadonlySet<unknown> = new Set(['queued', 'in_progress']);
const RESPONSE_ENDED: ReadonlySet<unknown> = new Set(['completed', 'incomplete']);
const RESPONSE_FAILED: ReadonlySet<unknown> = new Set(['failed', 'cancelled']);
const RESPONSE_PART = /\.(delta|done|partial_image)$/;
const PART_METADATA = [
  'type',
  'item_id',
  'response_id',
  'event_id',
  'output_index',
  'content_index',
  'summary_index',
  'annotation_index',
  'partial_image_index',
  'sequence_number',
  'obfuscation',
  'logprobs',
];
const outputDelivers = (item: JsonObject): boolean =>
  item['type'] === 'message' ? hasParts(item['content']) : hasPart(item);
const responseOutputs = (response: JsonObject): boolean => readObjects(response, 'output').some(outputDelivers);

export const responsesDelivery: DeliveryRules = {
  delivers: (response) => responseOutputs(response) || RESPONSE_TAKEN.has(response['status']),
  concludes: ({ status }) => RESPONSE_ENDED.has(status),
  findFault: (answer) => {
    const response = readType(answer).startsWith('response.') ? readObject(answer, 'response') : answer;
    return RESPONSE_FAILED.has(response['status']) || readType(answer) === 'response.failed'
      ? readObject(response, 'error')
      : undefined;
  },
  list: 'output',
  events: {
    delivers: (event) =>
      RESPONSE_PART.test(readType(event))
        ? hasContentBut(event, ...PART_METADATA, 'item', 'part') ||
          outputDelivers(readObject(event, 'item')) ||
          hasPart(readObject(event, 'part'))
        : responseOutputs(readObject(event, 'response')),
    ends: (event) => /^response\.(completed|incomplete)$/.test(readType(event)),
    endMarks: quoteWords('response.completed', 'response.incomplete'),
  },
};

const BLOCK_OF_TEXT: ReadonlySet<unknown> = new Set(['text', 'thinking']);
const blockDelivers = (block: JsonObject): boolean =>
  BLOCK_OF_TEXT.has(block['type']) ? hasContentBut(block, 'type') : isText(block['type']);

export const messagesDelivery: DeliveryRules = {
  delivers: (answer) => readObjects(answer, 'content').some(blockDelivers),
  concludes: ({ stop_reason }) => isText(stop_reason),
  findFault: (answer) =>
    isFailure(answer['stop_reason']) || isFailure(readObject(answer, 'delta')['stop_reason']) ? {} : undefined,
  list: 'content',
  events: {
    delivers: (event) =>
      (event['type'] === 'content_block_delta' && hasContentBut(readObject(event, 'delta'), 'type')) ||
      (event['type'] === 'content_block_start' && blockDelivers(readObject(event, 'content_block'))),
    ends: (event) => event['type'] === 'message_stop' || isText(readObject(event, 'delta')['stop_reason']),
    endMarks: quoteWords('message_stop', 'stop_reason'),
  },
};

export const countDelivery: DeliveryRules = {
  delivers: ({ input_tokens }) => typeof input_tokens === 'number',
  concludes: never,
  list: '',
  events: { delivers: never, ends: never, endMarks: [] },
};

const contentDelivers = (answer: JsonObject): boolean =>
  readObjects(answer, 'candidates').some((candidate) =>
    readObjects(readObject(candidate, 'content'), 'parts').some((part) =>
      hasContentBut(part, 'thought', 'thoughtSignature'),
    ),
  );
/** A blocked prompt has a reason instead of candidates. */
const contentConcludes = (answer: JsonObject): boolean =>
  readObjects(answer, 'candidates').some(({ finishReason }) => isText(finishReason)) ||
  isText(readObject(answer, 'promptFeedback')['blockReason']);

export const contentDelivery: DeliveryRules = {
  delivers: contentDelivers,
  concludes: contentConcludes,
  findFault: (answer) =>
    readObjects(answer, 'candidates').some(({ finishReason }) => isFailure(finishReason)) ? {} : undefined,
  list: 'candidates',
  events: {
    delivers: contentDelivers,
    ends: contentConcludes,
    endMarks: quoteWords('finishReason', 'blockReason'),
  },
};

const NO_EVENTS: EventRules = { delivers: never, ends: never, endMarks: [] };

export const embeddingsDelivery: DeliveryRules = {
  delivers: (answer) =>
    readObjects(answer, 'data').some(({ embedding }) => hasContent(embedding)) ||
    hasContent(answer['embeddings']) ||
    hasContent(answer['vectors']) ||
    hasContent(answer['embedding']),
  concludes: never,
  list: 'data',
  isByFirst: true,
  events: NO_EVENTS,
};

export const rerankDelivery: DeliveryRules = {
  delivers: (answer) =>
    ['results', 'data'].some((name) => readObjects(answer, name).some((rank) => hasContent(Object.values(rank)))),
  concludes: ({ results, data }) => [results, data].some((list) => Array.isArray(list) && list.length === 0),
  list: 'results',
  events: NO_EVENTS,
};

const IMAGE_MEMBERS = ['b64_json', 'url'] as const;
/** The names of the members of which each is one image. */
export const IMAGE_MARKS = quoteWords(...IMAGE_MEMBERS);

/** Counts the images that came. */
export function countImages(answer: JsonObject): number {
  const listed = ['data', 'images'].map(
    (name) => readObjects(answer, name).filter((image) => IMAGE_MEMBERS.some((member) => isText(image[member]))).length,
  );
  return Math.max(...listed);
}

export const imagesDelivery: DeliveryRules = {
  delivers: (answer) => countImages(answer) > 0,
  concludes: never,
  list: 'data',
  events: {
    delivers: (event) => IMAGE_MEMBERS.some((member) => isText(event[member])) || countImages(event) > 0,
    ends: (event) => readType(event).endsWith('.completed'),
    endMarks: quoteWords('image_generation.completed', 'image_edit.completed'),
    endsWithDone: true,
  },
};

const SOUND_MEMBERS = ['audio', 'data', 'audio_content', 'audioContent'];
/** The names of sound within an object. */
const SOUND_WITHIN = /audio|data|content|url|hex|base64/i;
const isSound = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.entries(value).some(([name, inner]) => SOUND_WITHIN.test(name) && hasContent(inner))
    : hasContent(value);
const soundDelivers = (answer: JsonObject): boolean => SOUND_MEMBERS.some((name) => isSound(answer[name]));

export const speechDelivery: DeliveryRules = {
  delivers: soundDelivers,
  concludes: never,
  list: '',
  takesBytes: true,
  takesNoWords: true,
  events: {
    delivers: (event) => soundDelivers(event) || isText(event['delta']),
    ends: (event) => readType(event) === 'speech.audio.done',
    endMarks: quoteWords('speech.audio.done'),
    endsWithDone: true,
  },
};

export const transcriptionDelivery: DeliveryRules = {
  // silence has an empty text
  delivers: ({ text, segments, words }) => typeof text === 'string' || hasContent(segments) || hasContent(words),
  concludes: never,
  list: '',
  takesBytes: true,
  events: {
    delivers: (event) => isText(event['delta']) || typeof event['text'] === 'string',
    ends: (event) => readType(event) === 'transcript.text.done',
    endMarks: quoteWords('transcript.text.done'),
    endsWithDone: true,
  },
};
