import { redirects } from '../../../services/media/testing/origin.ts';
import { answer, floods } from '../../../services/media/testing/raw-origin.ts';
import type { Raw } from '../../../services/media/testing/raw-origin.ts';
import { attacks } from '../attack.ts';
import type { Attack } from '../attack.ts';
import type { AttackWorld } from '../attack-world.ts';

const STATUSES = [301, 302, 303, 307, 308];

/** A permitted origin that redirects to forbidden addresses. */
export function redirectAttacks(world: AttackWorld): readonly Attack[] {
  const { origin, secure, raw, canary, program } = world;
  const port = String(canary);
  const to = (target: string, status = 302): string => origin.url(redirects(target, status));
  const chain = (target: string, steps: number): string => {
    let url = target;
    for (let step = 0; step < steps; step += 1) url = (step % 2 === 0 ? origin : secure).url(redirects(url, 307));
    return url;
  };
  const circle = origin.url((request, response) => {
    redirects(request.url ?? '')(request, response);
  });
  const pingPong: string[] = [];
  for (const one of [origin, secure])
    pingPong.push(
      one.url((request, response) => {
        redirects(pingPong[one === origin ? 1 : 0] ?? '')(request, response);
      }),
    );
  const bad = `http://127.0.0.1:${port}/`;
  const raws = (what: readonly Raw[]): readonly string[] => what.map((each) => raw.url(each));
  return [
    ...STATUSES.flatMap((status) => [
      ...attacks(
        `redirects by ${status} to forbidden addresses`,
        ['unreached'],
        forbidden(port).map((target) => to(target, status)),
      ),
      ...attacks(
        `redirects by ${status} to what is not fetched`,
        ['unreached'],
        NOT_FETCHED.map((target) => to(target, status)),
      ),
      ...attacks(
        `redirects by ${status} to no address`,
        ['unreached'],
        [
          'http://',
          'http://[',
          'http://a b/',
          'http://127.0.0.256/',
          'http://a.example:99999/',
          `/${'x'.repeat(5000)}`,
        ].map((target) => to(target, status)),
      ),
    ]),
    ...attacks(
      'redirects from TLS to plain HTTP at a forbidden address',
      ['unreached'],
      [
        ...forbidden(port)
          .slice(0, 12)
          .map((target) => secure.url(redirects(target))),
      ],
    ),
    ...attacks(
      'redirects to this service',
      ['unreached'],
      [
        to(`${program.base}/v1/models`),
        to(`${program.base}/v1/videos/task_1/content`),
        to(`${program.base}/ximg/vid_1.mp4`),
        to(program.base.replace('127.0.0.1', '127.1')),
        to(program.base.replace('http://', '//')),
      ],
    ),
    ...attacks(
      'loops and long chains',
      ['unreached'],
      [circle, ...pingPong, chain(circle, 2), chain(origin.url(redirects('/9999')), 4)],
    ),
    ...attacks(
      'a forbidden address behind permitted ones',
      ['unreached'],
      [1, 2, 3].map((steps) => chain(bad, steps)),
    ),
    ...attacks(
      'a missing, empty or repeated Location',
      ['unreached'],
      [
        ...raws([
          answer(['302 Found', 'content-length: 0']),
          answer(['302 Found', 'location: ', 'content-length: 0']),
          answer(['302 Found', 'location: /9999', `location: ${bad}`, 'content-length: 0']),
          answer(['302 Found', `location: ${bad}`, 'location: /9999', 'content-length: 0']),
          answer([
            '302 Found',
            `content-location: ${bad}`,
            `refresh: 0; url=${bad}`,
            `uri: ${bad}`,
            'content-length: 0',
          ]),
          answer(['302 Found', `link: <${bad}>; rel=canonical`, 'content-length: 0']),
        ]),
      ],
    ),
    ...attacks(
      'a Location beside a status that is not a redirect',
      ['unreached'],
      raws(
        [300, 304, 305, 306, 309, 201, 404, 401, 407].map((status) =>
          answer([`${status} X`, `location: ${bad}`, 'content-length: 0']),
        ),
      ),
    ),
    ...attacks(
      'redirects with a body of their own',
      ['unreached'],
      raws([
        floods(`HTTP/1.1 302 Found\r\nlocation: ${bad}\r\n\r\n`, 'x'),
        answer(['302 Found', `location: ${bad}`, 'content-encoding: gzip', 'content-length: 3'], 'abc'),
        answer(['302 Found', `location: ${bad}`, 'content-length: 300'], 'abc'),
        answer(['302 Found', `location: ${bad}`, 'transfer-encoding: chunked', 'content-length: 3'], 'abc'),
        answer(['302 Found', `location: ${bad}\r\n folded`, 'content-length: 0']),
      ]),
    ),
  ];
}

const forbidden = (port: string): readonly string[] => [
  `http://127.0.0.1:${port}/`,
  `https://127.0.0.1:${port}/`,
  `HTTP://127.1:${port}/`,
  `http://2130706433:${port}/`,
  `http://0x7f000001:${port}/`,
  `http://0177.0.0.1:${port}/`,
  `http://127.0.0.2:${port}/`,
  `http://%31%32%37.0.0.1:${port}/`,
  `http://127.0.0.1.:${port}/`,
  `http://0:${port}/`,
  `http://[::1]:${port}/`,
  `http://[::]:${port}/`,
  `http://[::ffff:127.0.0.1]:${port}/`,
  `http://[::ffff:7f00:1]:${port}/`,
  `http://[::127.0.0.1]:${port}/`,
  'http://10.0.0.1/',
  'http://172.16.0.1/',
  'http://192.168.1.1/',
  'http://100.64.0.1/',
  'http://169.254.169.254/latest/meta-data/',
  'http://168.63.129.16/',
  'http://255.255.255.255/',
  'http://[fd00:ec2::254]/',
  'http://[fe80::1]/',
  `http://[64:ff9b::7f00:1]:${port}/`,
  `http://[2002:7f00:1::]:${port}/`,
  `http://localhost:${port}/`,
  `http://LOCALHOST.:${port}/`,
  'http://metadata.google.internal/',
  `http://loopback.attack.example:${port}/`,
  `https://loopback.attack.example:${port}/`,
  `//127.0.0.1:${port}/`,
  `//localhost:${port}/`,
  `\\\\127.0.0.1:${port}/`,
  `/\\127.0.0.1:${port}/`,
  `http:\\\\127.0.0.1:${port}/`,
  `ht\ttp://127.0.0.1:${port}/`,
  `https:127.0.0.1:${port}/`,
  `//127.0.0.1:${port}\\@a.example/`,
];

const NOT_FETCHED = [
  'file:///etc/passwd',
  'ftp://a.example/',
  'gopher://127.0.0.1:6379/_INFO',
  'data:image/png;base64,AAAA',
  'javascript:alert(1)',
  'ws://a.example/',
  'about:blank',
  'unix:/var/run/docker.sock',
  'http://user@a.example/',
  '//user:pass@a.example/',
  'http://a.example:22/',
  'http://a.example:6379/',
  'https://a.example:0/',
];
