import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { KUBERNETES, OVERLAYS, renderFolder, renderOverlay } from './render.ts';
import type { Rendered } from './render.ts';

/** The components that no overlay has, and those that they go with. */
const OTHER_COMPONENTS = [
  'network-policy',
  'migrations',
  'keda',
  'ingress',
  'httproute',
  'monitoring',
  'external-secrets',
  'parser-namespaces',
];
export const VARIANTS = [...OVERLAYS, 'other components'] as const;
export type Variant = (typeof VARIANTS)[number];

const rendered = new Map<Variant, Rendered>();

/** An overlay, or the base with the components that no overlay has. Each is rendered once in a test file. */
export function renderVariant(variant: Variant): Rendered {
  const known = rendered.get(variant) ?? (variant === 'other components' ? renderComponents() : renderOverlay(variant));
  rendered.set(variant, known);
  return known;
}

function renderComponents(): Rendered {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'reelgate-kustomize-'));
  const at = (name: string): string => path.relative(folder, path.join(KUBERNETES, name));
  try {
    const kustomization = {
      apiVersion: 'kustomize.config.k8s.io/v1beta1',
      kind: 'Kustomization',
      namespace: 'reelgate',
      resources: [at('base')],
      components: OTHER_COMPONENTS.map((name) => at(`components/${name}`)),
      images: [{ name: 'reelgate', newTag: '0.1.0' }],
    };
    writeFileSync(path.join(folder, 'kustomization.yaml'), JSON.stringify(kustomization));
    return renderFolder(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
