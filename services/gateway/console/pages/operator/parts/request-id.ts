const BYTES = 16;

/** Names a form, so that sending it again is harmless. It works on plain http too, where `randomUUID` does not. */
export function newRequestId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(BYTES));
  return `console-${[...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}
