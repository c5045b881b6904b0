const KEY_BYTES = 16;

/** Names a request, so that sending it again is harmless. It works on plain http too, where `randomUUID` does not. */
export function newRequestKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(KEY_BYTES));
  return `console-${[...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}
