import { anthropic, countTokens, messages } from './anthropic.ts';
import { cohere, rerank } from './cohere.ts';
import { generateContent, google, streamGenerateContent } from './google.ts';
import { chat, embeddings, images, openai, openaiResponses, responses, speech, transcription } from './openai.ts';
import type { Answer, Vendor } from './reply.ts';

export interface Route {
  readonly path: RegExp;
  readonly vendor: Vendor;
  readonly answer: Answer;
}

const at = (path: RegExp, vendor: Vendor, answer: Answer): Route => ({ path, vendor, answer });

export const ROUTES: readonly Route[] = [
  at(/^\/v1\/chat\/completions$/, openai, chat),
  at(/^\/v1\/responses$/, openaiResponses, responses),
  at(/^\/v1\/embeddings$/, openai, embeddings),
  at(/^\/v1\/images\/(generations|edits)$/, openai, images),
  at(/^\/v1\/audio\/speech$/, openai, speech),
  at(/^\/v1\/audio\/(transcriptions|translations)$/, openai, transcription),
  at(/^\/v1\/messages$/, anthropic, messages),
  at(/^\/v1\/messages\/count_tokens$/, anthropic, countTokens),
  at(/^\/v1(beta)?\/models\/[^/]+:generateContent$/, google, generateContent),
  at(/^\/v1(beta)?\/models\/[^/]+:streamGenerateContent$/, google, streamGenerateContent),
  at(/^\/v1\/rerank$/, cohere, rerank),
];
