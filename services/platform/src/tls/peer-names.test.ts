import { X509Certificate } from 'node:crypto';
import type { PeerCertificate } from 'node:tls';
import { afterAll, expect, test } from '@jest/globals';
import { newAuthority } from '../../testing/certificates.ts';
import { readCertificateNames } from './peer-names.ts';

const authority = newAuthority();
afterAll(() => {
  authority.end();
});

function namesOf(name: string, alternatives: readonly string[]): readonly string[] {
  const { certificate } = authority.issue({ name, alternatives });
  return readCertificateNames(new X509Certificate(certificate).toLegacyObject());
}

test.each<[string, string, readonly string[], readonly string[]]>([
  ['its common name', 'reporting', [], ['reporting']],
  [
    'its alternative names, each once',
    'reporting',
    ['DNS:reporting', 'DNS:reporting.lab', 'URI:spiffe://lab/reporting', 'email:team@lab.example'],
    ['reporting', 'reporting.lab', 'spiffe://lab/reporting', 'team@lab.example'],
  ],
  ['no address', 'reporting', ['IP:10.0.0.1', 'DNS:a'], ['reporting', 'a']],
])('a certificate is known by %s', (_what, name, alternatives, names) => {
  expect(namesOf(name, alternatives)).toEqual(names);
});

test.each(['URI:http://a/, DNS:pipeline', 'URI:x"y'])(
  'a name that pretends to be two is none: %s',
  (subjectaltname) => {
    const quoted = `URI:${JSON.stringify(subjectaltname)}, DNS:other`;

    expect(readCertificateNames({ subject: { CN: 'reporting' }, subjectaltname: quoted } as PeerCertificate)).toEqual([
      'reporting',
    ]);
  },
);

test('several common names are none, because none of them is the name', () => {
  const subject = { CN: ['reporting', 'pipeline'] } as unknown as PeerCertificate['subject'];

  expect(readCertificateNames({ subject } as PeerCertificate)).toEqual([]);
});
