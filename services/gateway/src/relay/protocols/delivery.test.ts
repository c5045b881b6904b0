import { expect, test } from '@jest/globals';
import type { JsonObject } from '../../json-bytes/find-objects.ts';
import {
  chatDelivery,
  contentDelivery,
  embeddingsDelivery,
  messagesDelivery,
  rerankDelivery,
  responsesDelivery,
  speechDelivery,
} from './delivery.ts';
import type { DeliveryRules } from './protocol.ts';

const chat = (message: object): JsonObject => ({ choices: [{ index: 0, message, finish_reason: 'stop' }] });
const chunk = (delta: object): JsonObject => ({ choices: [{ index: 0, delta, finish_reason: null }] });
const output = (...items: readonly object[]): JsonObject => ({ status: 'completed', output: items });

test.each<[string, DeliveryRules, JsonObject]>([
  ['a text', chatDelivery, chat({ role: 'assistant', content: 'x' })],
  ['a text of parts', chatDelivery, chat({ content: [{ type: 'text', text: 'x' }] })],
  ['a picture among parts', chatDelivery, chat({ content: [{ type: 'image_url', image_url: { url: 'x' } }] })],
  ['a picture beside the text', chatDelivery, chat({ content: '', images: [{ image_url: { url: 'x' } }] })],
  ['a refusal', chatDelivery, chat({ content: null, refusal: 'no' })],
  ['a call of a tool', chatDelivery, chat({ tool_calls: [{ id: 'a', function: { name: 'f', arguments: '' } }] })],
  ['a call of a function', chatDelivery, chat({ function_call: { name: 'f', arguments: '{}' } })],
  ['sound', chatDelivery, chat({ content: null, audio: { id: 'a', data: 'AAAA' } })],
  ['reasoning', chatDelivery, chat({ reasoning_content: 'x' })],
  ['the details of reasoning', chatDelivery, chat({ reasoning_details: [{ type: 'reasoning.text', text: 'x' }] })],
  ['a completion', chatDelivery, { choices: [{ text: 'x' }] }],
  ['a message', responsesDelivery, output({ type: 'message', content: [{ type: 'output_text', text: 'x' }] })],
  ['a call', responsesDelivery, output({ type: 'function_call', id: 'a', name: 'f', arguments: '{}' })],
  ['a picture', responsesDelivery, output({ type: 'image_generation_call', id: 'a', result: 'AAAA' })],
  ['hidden reasoning', responsesDelivery, output({ type: 'reasoning', summary: [], encrypted_content: 'x' })],
  ['a block of text', messagesDelivery, { content: [{ type: 'text', text: 'x' }] }],
  ['a block of a tool', messagesDelivery, { content: [{ type: 'tool_use', id: 'a', name: 'f', input: {} }] }],
  ['a part', contentDelivery, { candidates: [{ content: { parts: [{ text: 'x' }] } }] }],
  ['a call', contentDelivery, { candidates: [{ content: { parts: [{ functionCall: { name: 'f', args: {} } }] } }] }],
  ['a vector', embeddingsDelivery, { data: [{ embedding: [0, 0, 0] }] }],
  ['a vector as text', embeddingsDelivery, { data: [{ embedding: 'AAAA' }] }],
  ['vectors', embeddingsDelivery, { embeddings: [[0]] }],
  ['vectors by their type', embeddingsDelivery, { embeddings: { float: [[0.5]] } }],
  ['a rank of zeros', rerankDelivery, { results: [{ index: 0, relevance_score: 0 }] }],
  ['sound as text', speechDelivery, { audio: 'AAAA' }],
  ['sound within an object', speechDelivery, { data: { audio: 'AAAA', status: 2 } }],
])('%s is delivered', (_what, rules, answer) => {
  expect(rules.delivers(answer)).toBe(true);
});

test.each<[string, DeliveryRules, JsonObject]>([
  ['a text', chatDelivery, chunk({ content: 'x' })],
  ['reasoning', chatDelivery, chunk({ reasoning: 'x' })],
  ['the beginning of a call', chatDelivery, chunk({ tool_calls: [{ index: 0, id: 'a', function: { name: 'f' } }] })],
  ['a text', responsesDelivery, { type: 'response.output_text.delta', item_id: 'i', delta: 'x' }],
  [
    'a whole item',
    responsesDelivery,
    { type: 'response.output_item.done', item: { type: 'function_call', name: 'f', arguments: '{}' } },
  ],
  ['a picture', responsesDelivery, { type: 'response.image_generation_call.partial_image', partial_image_b64: 'AAAA' }],
  ['thinking', messagesDelivery, { type: 'content_block_delta', delta: { type: 'thinking_delta', thinking: 'x' } }],
])('an event with %s delivers', (_what, rules, event) => {
  expect(rules.events.delivers(event)).toBe(true);
});
