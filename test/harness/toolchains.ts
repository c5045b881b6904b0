import { execFile } from 'node:child_process';
import path from 'node:path';

const ASK_TIMEOUT_MS = 60_000;
const INSTALL_TIMEOUT_MS = 120_000;
const MODULES_TIMEOUT_MS = 90_000;

/** A program of the machine, or the reason why it cannot be used. */
export type Toolchain = { readonly file: string } | { readonly missing: string };

/**
 * A Python with these modules: that of REELGATE_PYTHON, else `python3` of the PATH, else a new environment in the
 * folder if pip can make one in time.
 */
export async function pythonWith(
  modules: readonly string[],
  requirements: readonly string[],
  folder: string,
): Promise<Toolchain> {
  const python = process.env['REELGATE_PYTHON'] ?? 'python3';
  const imports = ['-c', modules.map((name) => `import ${name}`).join('; ')];
  if (await works(python, imports, ASK_TIMEOUT_MS)) return { file: python };
  if (!(await works(python, ['--version'], ASK_TIMEOUT_MS))) return { missing: `there is no ${python}` };
  const environment = path.join(folder, 'python');
  const own = path.join(environment, 'bin/python');
  const install = ['-m', 'pip', 'install', '--quiet', ...requirements.flatMap((file) => ['-r', file])];
  const made =
    (await works(python, ['-m', 'venv', environment], INSTALL_TIMEOUT_MS)) &&
    (await works(own, install, INSTALL_TIMEOUT_MS)) &&
    (await works(own, imports, ASK_TIMEOUT_MS));
  return made ? { file: own } : { missing: `${python} has no ${modules.join(' and no ')}, and pip did not install it` };
}

/** The Go of REELGATE_GO or of the PATH, if it can fetch the modules of the example. */
export async function goToolchain(folder: string): Promise<Toolchain> {
  const go = process.env['REELGATE_GO'] ?? 'go';
  if (!(await works(go, ['version'], ASK_TIMEOUT_MS))) return { missing: `there is no ${go}` };
  return (await works(go, ['mod', 'download'], MODULES_TIMEOUT_MS, folder))
    ? { file: go }
    : { missing: 'the modules of the example cannot be fetched' };
}

/** A program that the variable names or that is on the PATH. It must know `-version`. */
export async function programOfPath(name: string, variable: string): Promise<Toolchain> {
  const file = process.env[variable] ?? name;
  return (await works(file, ['-version'], ASK_TIMEOUT_MS)) ? { file } : { missing: `there is no ${name}` };
}

function works(file: string, args: readonly string[], timeout: number, cwd?: string): Promise<boolean> {
  return new Promise((resolve) => {
    execFile(file, args, { timeout, cwd }, (error) => {
      resolve(error === null);
    });
  });
}
