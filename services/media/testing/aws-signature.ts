import { createHash, createHmac } from 'node:crypto';

const PATH_SAFE = /[!'()*]/g;
const encode = (text: string): string =>
  encodeURIComponent(text).replace(PATH_SAFE, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
const hmac = (key: Buffer | string, text: string): Buffer => createHmac('sha256', key).update(text).digest();

/**
 * The verdict of a store with Amazon's Signature Version 4 on a presigned address at the time `now`.
 */
export function judgePresigned(
  address: string,
  method: string,
  { secret, now }: { readonly secret: string; readonly now: number },
): 'granted' | 'expired' | 'forged' {
  const { host, pathname, searchParams } = new URL(address);
  const [credential, date, expires, signature] = ['Credential', 'Date', 'Expires', 'Signature'].map(
    (name) => searchParams.get(`X-Amz-${name}`) ?? '',
  ) as [string, string, string, string];
  const [, day = '', region = '', service = '', end = ''] = credential.split('/');
  const query = [...searchParams]
    .filter(([name]) => name !== 'X-Amz-Signature')
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .sort()
    .join('&');
  const asked = [method, pathname, query, `host:${host}\n`, 'host', 'UNSIGNED-PAYLOAD'].join('\n');
  const signed = [
    'AWS4-HMAC-SHA256',
    date,
    `${day}/${region}/${service}/${end}`,
    createHash('sha256').update(asked).digest('hex'),
  ].join('\n');
  const key = [region, service, end].reduce((made, part) => hmac(made, part), hmac(`AWS4${secret}`, day));
  if (hmac(key, signed).toString('hex') !== signature || searchParams.getAll('X-Amz-Signature').length !== 1)
    return 'forged';
  const [, year, month, date2, hour, minute, second] = (
    /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(date) ?? []
  ).map(Number) as [number, number, number, number, number, number, number];
  return now < Date.UTC(year, month - 1, date2, hour, minute, second) + Number(expires) * 1000 ? 'granted' : 'expired';
}
