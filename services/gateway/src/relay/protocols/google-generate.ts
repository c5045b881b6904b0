import { inputTokensMax, objectIn, outputTokensMax, quantityOf, sumOf, usageOf } from './quantities.ts';
import { wordsInBytes } from './protocol.ts';
import type { JsonObject, Protocol, StreamFault, Usage } from './protocol.ts';

const STATUS: Readonly<Record<number, string>> = {
  429: 'RESOURCE_EXHAUSTED',
  502: 'UNAVAILABLE',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
};

function googleUsage(holder: JsonObject): Usage | undefined {
  const usage = objectIn(holder, 'usageMetadata');
  return usageOf({
    inputTokens: sumOf(usage['promptTokenCount'], usage['toolUsePromptTokenCount']),
    cachedInputTokens: quantityOf(usage['cachedContentTokenCount']),
    outputTokens: sumOf(usage['candidatesTokenCount'], usage['thoughtsTokenCount']),
  });
}

function googleFault({ message, status }: StreamFault): string {
  return JSON.stringify({ error: { code: status, message, status: STATUS[status] ?? 'INTERNAL' } });
}

export const googleGenerate: Protocol = {
  name: 'google-generate',
  isStream: ({ path }) => path.endsWith(':streamGenerateContent'),
  priceFacts: (content) => {
    const settings = objectIn(content.json, 'generationConfig');
    return {
      inputTokens: inputTokensMax(content),
      ...outputTokensMax(settings['maxOutputTokens'], settings['candidateCount']),
    };
  },
  usageIn: googleUsage,
  usageMembers: ['usageMetadata'],
  stream: {
    usageMarks: wordsInBytes('usageMetadata'),
    // each event counts from the beginning of the answer
    usageAfter: (event, before) => ({ ...before, ...googleUsage(event) }),
    textNames: wordsInBytes('text'),
    faultFrame: (fault) => `data: ${googleFault(fault)}\n\n`,
    faultElement: googleFault,
  },
};
