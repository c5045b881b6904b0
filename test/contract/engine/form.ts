export interface FilePart {
  readonly bytes: Buffer;
  readonly type: string;
  readonly name: string;
}

/** A multipart form, part by part. */
export class Form {
  readonly parts: readonly (readonly [name: string, value: string | FilePart])[];

  constructor(...parts: readonly (readonly [name: string, value: string | FilePart])[]) {
    this.parts = parts;
  }

  /** The bytes of the form. */
  async encoded(): Promise<{ readonly contentType: string; readonly bytes: Buffer }> {
    const form = new FormData();
    for (const [name, value] of this.parts) {
      if (typeof value === 'string') form.append(name, value);
      else form.append(name, new Blob([new Uint8Array(value.bytes)], { type: value.type }), value.name);
    }
    const response = new Response(form);
    return {
      contentType: response.headers.get('content-type') ?? '',
      bytes: Buffer.from(await response.arrayBuffer()),
    };
  }
}
