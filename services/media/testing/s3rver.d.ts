/** The package has no types. */
declare module 's3rver' {
  import type { Server } from 'node:http';
  import type { AddressInfo } from 'node:net';
  import type { Readable } from 'node:stream';

  interface Stored {
    readonly size: number;
    readonly md5: string;
  }

  /** The store of the server: files whose names end with the kind of their content. */
  export interface S3Files {
    getResourcePath(bucket: string, key: string | undefined, resource: string): string;
    putMetadata(bucket: string, key: string, metadata: object, md5: string): Promise<void>;
    putObject(object: {
      readonly bucket: string;
      readonly key: string;
      readonly content: Readable | Buffer;
      readonly metadata: object;
    }): Promise<Stored>;
    putPart(bucket: string, uploadId: string, partNumber: number, content: Readable): Promise<Stored>;
  }

  export default class S3rver {
    constructor(options: object);
    readonly httpServer: Server;
    readonly store: S3Files;
    run(): Promise<AddressInfo>;
    close(): Promise<void>;
  }
}
