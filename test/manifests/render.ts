import path from 'node:path';
import { ROOT } from '../image/dockerfile.ts';
import { yamlDocuments } from './platform-packages.ts';
import { runTool } from './tools.ts';

export const KUBERNETES = path.join(ROOT, 'deploy/kubernetes');
export const OVERLAYS = ['local', 'production'] as const;
export type Overlay = (typeof OVERLAYS)[number];

/** The parts of a Kubernetes object that the tests read. */
export interface KubernetesObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly data?: Readonly<Record<string, string>>;
}

export interface Rendered {
  readonly text: string;
  readonly objects: readonly KubernetesObject[];
}

/** Renders a folder with a kustomization. */
export function renderFolder(folder: string): Rendered {
  const { status, out, err } = runTool('kustomize', ['build', folder]);
  if (status !== 0) throw new Error(`kustomize refuses ${folder}: ${err.trim()}`);
  return { text: out, objects: yamlDocuments(out) as readonly KubernetesObject[] };
}

export const renderOverlay = (overlay: Overlay): Rendered => renderFolder(path.join(KUBERNETES, 'overlays', overlay));
