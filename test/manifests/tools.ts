import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { cacheFolder } from '../image/layer-cache.ts';

const BUILD_TIMEOUT_MS = 10 * 60_000;
const RUN_TIMEOUT_MS = 60_000;
const OUTPUT_BYTES_MAX = 64 * 1024 * 1024;
/** Builds leave the processor to what else runs. */
const LOW_PRIORITY = ['nice', '-n', '15'] as const;

interface Tool {
  readonly version: string;
  /** The path of the program within the folder of the tool. */
  readonly program: string;
  /** The commands that fill the folder. */
  readonly install: (folder: string, version: string) => readonly (readonly [string, ...string[]])[];
  readonly environment?: (folder: string) => Readonly<Record<string, string>>;
}

const goTool = (version: string, program: string, module: string): Tool => ({
  version,
  program,
  install: () => [[process.env['REELGATE_GO'] ?? 'go', 'install', `${module}@${version}`]],
  environment: (folder) => ({ GOBIN: folder }),
});

/** Programs of the Go module proxy, PyPI and npm that render, check and use what deploy/ has. */
export const TOOLS = {
  kustomize: goTool('v5.8.1', 'kustomize', 'sigs.k8s.io/kustomize/kustomize/v5'),
  'kube-score': goTool('v1.20.0', 'kube-score', 'github.com/zegl/kube-score/cmd/kube-score'),
  /** The parser of Compose files that `docker compose` uses. */
  compose: goTool('v2.14.0', 'cmd', 'github.com/compose-spec/compose-go/v2/cmd'),
  'gemini-cli': {
    version: '0.61.0',
    program: 'node_modules/.bin/gemini',
    install: (folder, version) => [
      [
        'npm',
        'install',
        '--silent',
        '--no-save',
        '--ignore-scripts',
        '--prefix',
        folder,
        `@google/gemini-cli@${version}`,
      ],
    ],
  },
  'kubernetes-validate': {
    version: '1.37.0',
    program: 'bin/kubernetes-validate',
    install: (folder, version) => [
      [process.env['REELGATE_PYTHON'] ?? 'python3', '-m', 'venv', folder],
      [path.join(folder, 'bin/pip'), 'install', '--quiet', `kubernetes-validate==${version}`],
    ],
  },
} satisfies Readonly<Record<string, Tool>>;
export type ToolName = keyof typeof TOOLS;

const folderOf = (name: ToolName): string => path.join(cacheFolder(), 'tools', `${name}-${TOOLS[name].version}`);
const programOf = (name: ToolName): string => path.join(folderOf(name), TOOLS[name].program);

/** Why these tools cannot be used; undefined: they can. */
export function missingTools(...names: readonly ToolName[]): string | undefined {
  const missing = names.filter((name) => !existsSync(programOf(name)));
  return missing.length === 0
    ? undefined
    : `${missing.join(', ')} not installed; run node test/manifests/install-tools.ts (it needs Go and Python)`;
}

/** Installs a tool into the cache, once. Returns how it failed. */
export function installTool(name: ToolName): string | undefined {
  if (existsSync(programOf(name))) return undefined;
  const tool: Tool = TOOLS[name];
  const folder = folderOf(name);
  mkdirSync(path.dirname(folder), { recursive: true });
  for (const command of tool.install(folder, tool.version)) {
    const { status, error, stderr } = spawnSync(LOW_PRIORITY[0], [...LOW_PRIORITY.slice(1), ...command], {
      env: { ...process.env, ...tool.environment?.(folder) },
      timeout: BUILD_TIMEOUT_MS,
      encoding: 'utf8',
    });
    if (status !== 0) {
      rmSync(folder, { recursive: true, force: true });
      return `${command[0]} failed: ${error?.message ?? stderr.trim().split('\n').slice(-2).join(' / ')}`;
    }
  }
  return undefined;
}

/** The path of an installed tool. */
export function findTool(name: ToolName): string {
  return programOf(name);
}

export interface ToolRun {
  readonly status: number | null;
  readonly out: string;
  readonly err: string;
}

export function runTool(name: ToolName, args: readonly string[], input?: string, folder?: string): ToolRun {
  const { status, stdout, stderr, error } = spawnSync(programOf(name), args, {
    input,
    cwd: folder,
    encoding: 'utf8',
    timeout: RUN_TIMEOUT_MS,
    maxBuffer: OUTPUT_BYTES_MAX,
  });
  if (error !== undefined) throw error;
  return { status, out: stdout, err: stderr };
}
