import { inputTokensMax, readObject, outputTokensMax, pickQuantity, sumQuantities, toUsage } from './quantities.ts';
import { quoteWords } from './protocol.ts';
import type { JsonObject, Protocol, StreamFault, Usage } from './protocol.ts';

const STATUS: Readonly<Record<number, string>> = {
  429: 'RESOURCE_EXHAUSTED',
  502: 'UNAVAILABLE',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
};

function readGoogleUsage(holder: JsonObject): Usage | undefined {
  const usage = readObject(holder, 'usageMetadata');
  return toUsage({
    inputTokens: sumQuantities(usage['promptTokenCount'], usage['toolUsePromptTokenCount']),
    cachedInputTokens: pickQuantity(usage['cachedContentTokenCount']),
    outputTokens: sumQuantities(usage['candidatesTokenCount'], usage['thoughtsTokenCount']),
  });
}

function encodeGoogleFault({ message, status }: StreamFault): string {
  return JSON.stringify({ error: { code: status, message, status: STATUS[status] ?? 'INTERNAL' } });
}

export const googleGenerate: Protocol = {
  name: 'google-generate',
  isStream: ({ path }) => path.endsWith(':streamGenerateContent'),
  priceFacts: (content) => {
    const settings = readObject(content.json, 'generationConfig');
    return {
      inputTokens: inputTokensMax(content),
      ...outputTokensMax(settings['maxOutputTokens'], settings['candidateCount']),
    };
  },
  usageIn: readGoogleUsage,
  usageMembers: ['usageMetadata'],
  stream: {
    usageMarks: quoteWords('usageMetadata'),
    // each event counts from the beginning of the answer
    usageAfter: (event, before) => ({ ...before, ...readGoogleUsage(event) }),
    textNames: quoteWords('text'),
    faultFrame: (fault) => `data: ${encodeGoogleFault(fault)}\n\n`,
    faultElement: encodeGoogleFault,
  },
};
