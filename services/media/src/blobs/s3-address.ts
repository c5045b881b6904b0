import type { Secret } from '@reelgate/platform/secret';

const NAME = '[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]';
const FOLDERS = '(/[A-Za-z0-9_.-]+)*/?';
const ENDPOINT = 'https?://[^/?#&\\s@]+(/[^?#&\\s]*)?';
const SETTING = `((endpoint|public_endpoint)=${ENDPOINT}|region=[a-z0-9-]+|path_style=(true|false)|ca=[^?#&\\s]+)`;

/** The pattern of `s3://bucket/folder?endpoint=…&public_endpoint=…&region=…&path_style=…&ca=…` for JSON Schema. */
export const S3_PATTERN = `s3://${NAME}${FOLDERS}(\\?${SETTING}(&${SETTING})*)?`;

export interface S3Address {
  readonly bucket: string;
  /** The prefix of every key, either empty or with a slash at its end. */
  readonly prefix: string;
  /** Undefined for Amazon's endpoint. */
  readonly endpoint: string | undefined;
  /** The endpoint for clients and channels. */
  readonly publicEndpoint: string | undefined;
  readonly region: string;
  /** True if the bucket is the first part of the path and not of the host name. */
  readonly pathStyle: boolean;
  /** The file of the certificate authorities of the endpoint, undefined for the authorities of the system. */
  readonly ca: string | undefined;
}

export interface S3Credentials {
  readonly accessKeyId: Secret;
  readonly secretAccessKey: Secret;
  readonly sessionToken: Secret | undefined;
}

/** Parses an address that the schema has checked. A custom endpoint uses path style by default. */
export function parseS3Address(text: string): S3Address {
  const [location = '', query = ''] = text.slice('s3://'.length).split('?', 2);
  const [bucket = '', ...folders] = location.split('/').filter((part) => part !== '');
  const settings = new URLSearchParams(query);
  const endpoint = settings.get('endpoint') ?? undefined;
  return {
    bucket,
    endpoint,
    prefix: folders.map((folder) => `${folder}/`).join(''),
    publicEndpoint: settings.get('public_endpoint') ?? endpoint,
    region: settings.get('region') ?? 'us-east-1',
    ca: settings.get('ca') ?? undefined,
    pathStyle: (settings.get('path_style') ?? String(endpoint !== undefined)) === 'true',
  };
}
