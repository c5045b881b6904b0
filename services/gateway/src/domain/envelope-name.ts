/** The shapes of a refusal, one for each family of clients. */
export type EnvelopeName = 'openai' | 'vendor' | 'anthropic' | 'google' | 'mcp' | 'openrouter';
