import { readdirSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { everyFile } from '../harness/contracts.ts';

const PROTO = path.resolve(import.meta.dirname, '../../proto');

const files = await everyFile();
const written = readdirSync(path.join(PROTO, 'reelgate'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.proto'))
  .map((name) => `reelgate/${name}`);

const capitalised = (word: string): string => word.slice(0, 1).toUpperCase() + word.slice(1);

test('every contract is among the generated ones', () => {
  expect(files.map(([name]) => name).sort()).toEqual(written.sort());
});

test.each(files)('%s says where its code belongs in Go, Java and C#', (_name, { proto }) => {
  const [, name, version] = proto.package.split('.') as [string, string, string];

  expect(proto.options).toMatchObject({
    goPackage: `reelgate.example/contracts/${name}/${version};${name}${version}`,
    javaPackage: `example.reelgate.${name}.${version}`,
    javaMultipleFiles: true,
    csharpNamespace: `Reelgate.${capitalised(name)}.${capitalised(version)}`,
  });
});
