import { toPlaces } from '../../json-bytes/edit-strings.ts';
import type { Places } from '../../json-bytes/edit-strings.ts';
import { quoteWords } from './mentions.ts';

/** The kind of an id. The signature of one kind is invalid for another. */
export type IdKind =
  | 'response'
  | 'message'
  | 'item'
  | 'sealed'
  | 'audio'
  | 'conversation'
  | 'container'
  | 'file'
  | 'store'
  | 'prompt'
  | 'cache';

/** A place of a request where a client names an object that an upstream stores. */
export interface RequestPlace {
  readonly path: string;
  readonly kind: IdKind;
  /**
   * `made` for an id that only an answer can have given, and `kept` for one that can also name an object of the operator
   * at the upstream. `repeated` for a part of the conversation that the upstream need not look up, and `item` for one of
   * these, by its item.
   */
  readonly use: 'made' | 'kept' | 'repeated' | 'item' | 'type' | 'refused';
  /** Reports whether a value of this place names an object of an upstream. By default each value does. */
  readonly names?: (value: string) => boolean;
}

/** A place of an answer or event where an upstream names an object that it stores. */
export interface AnswerPlace {
  readonly path: string;
  readonly kind: IdKind;
}

/** The places of ids in bodies and answers that belong to one account of an upstream. */
export interface StateRules {
  readonly request: Places<RequestPlace>;
  /** A request without any of these words has no such id. Undefined if each request is read. */
  readonly requestMarks?: readonly Buffer[];
  readonly answer?: Places<AnswerPlace>;
  /** An answer or event without any of these words has no such id. */
  readonly answerMarks?: readonly Buffer[];
}

type PlaceOf<P> = (path: string) => P;
const requestPlace =
  (use: RequestPlace['use'], kind: IdKind): PlaceOf<RequestPlace> =>
  (path) => ({ path, use, kind });
const answerPlace =
  (kind: IdKind): PlaceOf<AnswerPlace> =>
  (path) => ({ path, kind });
/** A letter of ASCII that is written as an escape. */
const ESCAPED = Buffer.from('\\u00');

const files = (...paths: readonly string[]): readonly RequestPlace[] => paths.map(requestPlace('kept', 'file'));

/** The ids of an item of a response, at every place of items. */
const ITEM_IDS: readonly (readonly [suffix: string, kind: IdKind, use: RequestPlace['use']])[] = [
  ['id', 'item', 'item'],
  ['encrypted_content', 'sealed', 'made'],
  ['container_id', 'container', 'made'],
  ['environment.container_id', 'container', 'kept'],
  ['approval_request_id', 'item', 'made'],
  ['results[].file_id', 'file', 'repeated'],
  ['content[].annotations[].file_id', 'file', 'repeated'],
  ['content[].annotations[].container_id', 'container', 'repeated'],
];

const toolPlaces = (list: string): readonly RequestPlace[] => [
  ...[`${list}.container`, `${list}.environment.container_id`].map(requestPlace('kept', 'container')),
  ...files(`${list}.container.file_ids[]`, `${list}.environment.file_ids[]`, `${list}.input_image_mask.file_id`),
  ...[`${list}.vector_store_ids[]`].map(requestPlace('kept', 'store')),
];

export const responsesState: StateRules = {
  request: toPlaces([
    ...['previous_response_id', 'prompt_cache_options.comparison_response_id'].map(requestPlace('made', 'response')),
    ...['conversation', 'conversation.id'].map(requestPlace('kept', 'conversation')),
    ...['prompt.id'].map(requestPlace('kept', 'prompt')),
    ...['background'].map(requestPlace('refused', 'response')),
    ...['input[].type'].map(requestPlace('type', 'item')),
    ...ITEM_IDS.map(([suffix, kind, use]) => requestPlace(use, kind)(`input[].${suffix}`)),
    ...files(
      'input[].content[].file_id',
      'input[].output[].file_id',
      'input[].output.file_id',
      'prompt.variables.*.file_id',
    ),
    ...toolPlaces('tools[]'),
    ...toolPlaces('input[].tools[]'),
  ]),
  answer: toPlaces([
    ...['', 'response.'].flatMap((root) => [
      ...['id', 'previous_response_id', 'prompt_cache_options.comparison_response_id'].map((path) =>
        answerPlace('response')(`${root}${path}`),
      ),
      ...['conversation.id'].map((path) => answerPlace('conversation')(`${root}${path}`)),
    ]),
    ...['output[]', 'response.output[]', 'item'].flatMap((item) =>
      ITEM_IDS.map(([suffix, kind]) => answerPlace(kind)(`${item}.${suffix}`)),
    ),
    ...['item_id'].map(answerPlace('item')),
    ...['response_id'].map(answerPlace('response')),
    ...['annotation', 'part.annotations[]'].flatMap((annotation) => [
      answerPlace('file')(`${annotation}.file_id`),
      answerPlace('container')(`${annotation}.container_id`),
    ]),
  ]),
};

export const chatState: StateRules = {
  request: toPlaces([
    ...['messages[].audio.id'].map(requestPlace('made', 'audio')),
    ...files('messages[].content[].file.file_id'),
  ]),
  requestMarks: [...quoteWords('audio', 'file_id'), ESCAPED],
  answer: toPlaces(['choices[].message.audio.id', 'choices[].delta.audio.id'].map(answerPlace('audio'))),
  answerMarks: quoteWords('audio'),
};

const MESSAGE_ROOTS = ['', 'message.'];

export const messagesState: StateRules = {
  request: toPlaces([
    ...['container', 'container.id'].map(requestPlace('kept', 'container')),
    ...['thread.previous_message_id', 'diagnostics.previous_message_id'].map(requestPlace('made', 'message')),
    ...files(
      'messages[].content[].file_id',
      'messages[].content[].source.file_id',
      'messages[].content[].content[].source.file_id',
    ),
    ...['messages[].content[].content.content[].file_id', 'messages[].content[].citations[].file_id'].map(
      requestPlace('repeated', 'file'),
    ),
  ]),
  requestMarks: [...quoteWords('container', 'previous_message_id', 'file_id'), ESCAPED],
  answer: toPlaces([
    ...MESSAGE_ROOTS.map((root) => answerPlace('message')(`${root}id`)),
    ...[...MESSAGE_ROOTS, 'delta.'].map((root) => answerPlace('container')(`${root}container.id`)),
    ...MESSAGE_ROOTS.map((root) => `${root}content[]`)
      .concat('content_block')
      .flatMap((block) => [`${block}.content.content[].file_id`, `${block}.citations[].file_id`])
      .concat('delta.citation.file_id')
      .map(answerPlace('file')),
  ]),
  answerMarks: quoteWords('message', 'container', 'file_id'),
};

/** Files of Google's own stores. Any other address is fetched as every reader could fetch it. */
const KEPT_FILE = /^(gs:\/\/|files\/|https?:\/\/[\w.-]+\.googleapis\.com\/)/i;
const isKeptFile = (value: string): boolean => KEPT_FILE.test(value.trim());

export const generateState: StateRules = {
  request: toPlaces([
    ...['cachedContent'].map(requestPlace('kept', 'cache')),
    ...files(
      'contents[].parts[].fileData.fileUri',
      'contents[].parts[].functionResponse.parts[].fileData.fileUri',
      'systemInstruction.parts[].fileData.fileUri',
    ).map((place) => ({ ...place, names: isKeptFile })),
    ...[
      'tools[].fileSearch.fileSearchStoreNames[]',
      'tools[].retrieval.vertexAiSearch.datastore',
      'tools[].retrieval.vertexAiSearch.engine',
      'tools[].retrieval.vertexRagStore.ragCorpora[]',
      'tools[].retrieval.vertexRagStore.ragResources[].ragCorpus',
    ].map(requestPlace('kept', 'store')),
  ]),
};

export const imagesState: StateRules = {
  request: toPlaces(files('image.file_id', 'image[].file_id', 'images[].file_id', 'mask.file_id')),
  requestMarks: [...quoteWords('file_id'), ESCAPED],
};
