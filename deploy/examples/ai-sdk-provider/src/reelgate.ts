import { NoSuchModelError } from '@ai-sdk/provider';
import type { Experimental_VideoModelV4, ProviderV4 } from '@ai-sdk/provider';
import { loadApiKey, loadSetting } from '@ai-sdk/provider-utils';
import type { FetchFunction } from '@ai-sdk/provider-utils';
import { createVideoModel } from './video-model.ts';

export interface ReelgateSettings {
  /** The address of the gateway, with or without `/v1`. By default it is in `REELGATE_URL`. */
  readonly baseURL?: string;
  /** The token. By default it is in `REELGATE_API_KEY`. */
  readonly apiKey?: string;
  /** They go with every request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Makes the requests in place of the global `fetch`. */
  readonly fetch?: FetchFunction;
}

export interface ReelgateProvider extends ProviderV4 {
  video(modelId: string): Experimental_VideoModelV4;
  /** The same as `video`, for a registry of providers. */
  videoModel(modelId: string): Experimental_VideoModelV4;
}

/** Settings that are missing are refused at the first request. */
export function createReelgate(settings: ReelgateSettings = {}): ReelgateProvider {
  const video = (modelId: string): Experimental_VideoModelV4 =>
    createVideoModel(modelId, {
      toUrl: (path) => `${readBaseUrl(settings)}${path}`,
      headers: () => ({ ...settings.headers, authorization: `Bearer ${readApiKey(settings)}` }),
      fetch: settings.fetch,
    });
  return {
    specificationVersion: 'v4',
    video,
    videoModel: video,
    languageModel: refuse('languageModel'),
    embeddingModel: refuse('embeddingModel'),
    imageModel: refuse('imageModel'),
  };
}

/** The gateway that the environment names. */
export const reelgate = createReelgate();

function refuse(modelType: 'languageModel' | 'embeddingModel' | 'imageModel'): (modelId: string) => never {
  return (modelId) => {
    throw new NoSuchModelError({ modelId, modelType });
  };
}

function readBaseUrl({ baseURL }: ReelgateSettings): string {
  const url = loadSetting({
    settingValue: baseURL,
    settingName: 'baseURL',
    environmentVariableName: 'REELGATE_URL',
    description: 'Reelgate base URL',
  });
  return url.replace(/\/+$/, '').replace(/\/v1$/, '');
}

function readApiKey({ apiKey }: ReelgateSettings): string {
  return loadApiKey({ apiKey, environmentVariableName: 'REELGATE_API_KEY', description: 'Reelgate' });
}
