import { readdirSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { AnyDesc, DescFile, DescMethod } from '@bufbuild/protobuf';

const GENERATED = path.resolve(import.meta.dirname, '../../proto/gen/reelgate');

/** Every RPC of every service of the generated contracts, by its full name. */
export async function everyRpc(): Promise<readonly (readonly [name: string, method: DescMethod])[]> {
  return (await everyDescriptor()).flatMap((one) =>
    one.kind === 'service' ? one.methods.map((method) => [`${one.typeName}/${method.name}`, method] as const) : [],
  );
}

/** Every file of the contracts, by its path below `proto/`. */
export async function everyFile(): Promise<readonly (readonly [name: string, file: DescFile])[]> {
  return (await everyDescriptor()).flatMap((one) => (one.kind === 'file' ? [[`${one.name}.proto`, one] as const] : []));
}

async function everyDescriptor(): Promise<readonly AnyDesc[]> {
  const files = readdirSync(GENERATED, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('_pb.js'));
  const exported = await Promise.all(
    files.map(async (file) => Object.values(await descriptorsIn(path.join(GENERATED, file)))),
  );
  return exported.flat();
}

async function descriptorsIn(file: string): Promise<Readonly<Record<string, AnyDesc>>> {
  return (await import(pathToFileURL(file).href)) as Readonly<Record<string, AnyDesc>>;
}
