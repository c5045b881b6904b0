import { GoogleGenAI } from '@google/genai';
import { Agent, setGlobalDispatcher } from 'undici';
import { collected } from './sdk-call.ts';
import type { SdkCall, Target } from './sdk-call.ts';

// The SDK dials through a global dispatcher, and the globals of a test are not those of the process.
setGlobalDispatcher(new Agent());

/** The SDK's default: the key in `x-goog-api-key`, and no other header. */
export const googleClient = ({ base, key }: Target, apiVersion = 'v1beta'): GoogleGenAI =>
  new GoogleGenAI({ apiKey: key, httpOptions: { baseUrl: base, apiVersion } });

const call = (
  name: string,
  run: (client: GoogleGenAI, model: string, text: string) => Promise<unknown>,
  more: Partial<SdkCall> & { readonly version?: string } = {},
): SdkCall => ({
  name: `google ${name}`,
  run: (target, text) => run(googleClient(target, more.version), target.model, text),
  ...more,
});

/** The part of an answer that came over the wire. The rest concerns the transport. */
const said = ({
  candidates,
  usageMetadata,
  modelVersion,
  responseId,
}: object & {
  candidates?: unknown;
  usageMetadata?: unknown;
  modelVersion?: unknown;
  responseId?: unknown;
}): object => ({ candidates, usageMetadata, modelVersion, responseId });
const ask = (model: string, contents: string) => ({ model, contents, config: { maxOutputTokens: 100 } });

export const googleCalls: readonly SdkCall[] = [
  call('generateContent', async (client, model, text) => said(await client.models.generateContent(ask(model, text)))),
  call(
    'generateContentStream',
    async (client, model, text) =>
      (await collected(await client.models.generateContentStream(ask(model, text)))).map(said),
    { streams: true },
  ),
  call(
    'generateContent at v1',
    async (client, model, text) => said(await client.models.generateContent(ask(model, text))),
    { version: 'v1' },
  ),
  call(
    'generateContentStream at v1',
    async (client, model, text) =>
      (await collected(await client.models.generateContentStream(ask(model, text)))).map(said),
    { version: 'v1', streams: true },
  ),
];
