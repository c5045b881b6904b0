const WORD = /\[(?:([a-z0-9-]+)\/)?([a-z-]+)(?::([^\]"\\]*))?\]/g;

/** The words in a request's text that steer the upstream, such as `[slow:500]`; `[main/status:429]` only on `main`. */
export class Words {
  readonly #words: ReadonlyMap<string, string>;

  constructor(text: string, channel: string) {
    const found = [...text.matchAll(WORD)].filter(([, only]) => only === undefined || only === channel);
    this.#words = new Map(found.map(([, , name = '', value = '']) => [name, value]));
  }

  has(name: string): boolean {
    return this.#words.has(name);
  }

  text(name: string, otherwise = ''): string {
    return this.#words.get(name) ?? otherwise;
  }

  number(name: string, otherwise: number): number {
    const value = this.#words.get(name);
    return value === undefined || value === '' ? otherwise : Number(value);
  }
}
