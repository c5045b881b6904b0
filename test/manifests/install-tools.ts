import { TOOLS, installTool } from './tools.ts';
import type { ToolName } from './tools.ts';

/** As a command: node test/manifests/install-tools.ts installs what is missing. */
for (const name of Object.keys(TOOLS) as ToolName[]) {
  const began = performance.now();
  const failure = installTool(name);
  const seconds = Math.round((performance.now() - began) / 1000);
  console.log(
    `${name}: ${failure === undefined ? `installed, or there before, ${seconds} s` : `not installed: ${failure}`}`,
  );
}
