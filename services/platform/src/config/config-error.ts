/** Names the file, line and key that is wrong, and what is expected there. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}
