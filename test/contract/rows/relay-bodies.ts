import { fixture } from '../world/media-origin.ts';

/** The answers of the suite's relay upstream. */
export const SAID = 'Hello from the other side.';

export const chat = (over: object = {}, words = 'hello'): object => ({
  model: 'solo',
  messages: [{ role: 'user', content: words }],
  ...over,
});
export const messages = (over: object = {}, words = 'hello'): object => ({
  model: 'claude',
  max_tokens: 50,
  messages: [{ role: 'user', content: words }],
  ...over,
});
export const contents = (words = 'hello'): object => ({ contents: [{ role: 'user', parts: [{ text: words }] }] });
export const CHAT = '/v1/chat/completions';
export const GENERATE = '/v1beta/models/gemini:generateContent';
export const STREAM = '/v1beta/models/gemini:streamGenerateContent?alt=sse';
export const picture = { bytes: fixture('small.png'), type: 'image/png', name: 'small.png' };
export const recording = { bytes: fixture('audio.mp3'), type: 'audio/mpeg', name: 'sound.mp3' };
export const SSE = { 'content-type': /^text\/event-stream/ };
