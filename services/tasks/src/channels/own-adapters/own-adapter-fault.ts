/** Names the file and line of an adapter that cannot be loaded, and the reason. */
export class OwnAdapterFault extends Error {
  override readonly name = 'OwnAdapterFault';

  constructor(file: string, line: number, reason: string) {
    super(`${file}:${line}: ${reason}`);
  }
}
