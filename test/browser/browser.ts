import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { chromium } from 'playwright-core';
import type { Browser, BrowserContext, Page, Response } from 'playwright-core';
import { chromiumProgram } from '../servers/chromium.ts';

/** It opens no connection of its own. */
const ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-dev-shm-usage',
];
const START_TIMEOUT_MS = 120_000;
/** For a busy machine. */
const STEP_TIMEOUT_MS = 60_000;
/** The folder of the pictures of the pages, for a person to look at: `REELGATE_SHOTS=1 npm test -- test/browser`. */
const SHOTS = path.join(import.meta.dirname, '../../node_modules/.reelgate-shots');

const require = createRequire(import.meta.url);
const AXE = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
/** WCAG 2.2 AA, and what axe adds as good practice. */
const AXE_TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

export interface VisitOptions {
  /** The address of the service, with the path of a proxy if there is one. */
  readonly origin: string;
  readonly colours?: 'light' | 'dark';
  /** In CSS pixels. A zoom of 200 % halves what a page has. */
  readonly width?: number;
}

/** A browser with a fresh profile, and what went wrong in it. */
export interface Visit {
  readonly page: Page;
  /** Console errors, uncaught errors, CSP reports and requests to other origins. A test expects none. */
  readonly faults: readonly string[];
  /** Requests to the API of the console since the last look, without the stream. */
  apiReads(): readonly string[];
  /** Bytes of the files of the console as they came over the line, and their number. */
  traffic(): Promise<{ readonly requests: number; readonly bytes: number }>;
  /** The rules that the page breaks, each with its first element. */
  axe(): Promise<readonly string[]>;
  /** Whether the page is wider than its window. */
  isTooWide(): Promise<boolean>;
  shoot(name: string): Promise<void>;
  close(): Promise<void>;
}

/**
 * Refusals and restarts that a journey provokes on purpose are logged as errors by the browser; they are no faults of a
 * page.
 */
const PROVOKED =
  /Failed to load resource: (the server responded with a status of (401|403|404|409|410|422|429)|net::ERR_CONNECTION_REFUSED)/;

export async function startBrowser(): Promise<{
  visit(options: VisitOptions): Promise<Visit>;
  stop(): Promise<void>;
}> {
  const executablePath = chromiumProgram();
  if (executablePath === undefined) throw new Error('there is no chromium');
  const browser = await chromium.launch({ executablePath, args: ARGUMENTS, timeout: START_TIMEOUT_MS });
  return { visit: (options) => visit(browser, options), stop: () => browser.close() };
}

async function visit(browser: Browser, { origin, colours = 'light', width = 1280 }: VisitOptions): Promise<Visit> {
  const context = await browser.newContext({ colorScheme: colours, viewport: { width, height: 900 } });
  await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: new URL(origin).origin });
  context.setDefaultTimeout(STEP_TIMEOUT_MS);
  const faults: string[] = [];
  const responses: Response[] = [];
  const reads: string[] = [];
  await reportPolicy(context, faults);
  const page = await context.newPage();
  page.on('console', (message) => {
    if (message.type() === 'error' && !PROVOKED.test(message.text())) faults.push(`console: ${message.text()}`);
  });
  page.on('pageerror', (error) => faults.push(`uncaught: ${error.stack ?? error.message}`));
  page.on('response', (response) => {
    // answers of the API are no part of the console, and the stream never ends
    if (!new URL(response.url()).pathname.startsWith('/console/api/')) responses.push(response);
  });
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (!url.href.startsWith(`${origin}/`) && url.protocol !== 'data:' && url.protocol !== 'blob:')
      faults.push(`foreign request: ${url.href}`);
    if (url.pathname.startsWith('/console/api/') && !url.pathname.endsWith('/stream'))
      reads.push(`${request.method()} ${url.pathname}`);
  });
  return {
    page,
    faults,
    apiReads: () => reads.splice(0),
    traffic: async () => {
      const sizes = await Promise.all(responses.map((response) => bytesOf(response)));
      return { requests: responses.length, bytes: sizes.reduce((sum, bytes) => sum + bytes, 0) };
    },
    axe: () => axe(page),
    isTooWide: () => page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth + 1'),
    shoot: async (name) => {
      if (process.env['REELGATE_SHOTS'] === undefined) return;
      mkdirSync(SHOTS, { recursive: true });
      await page.screenshot({ path: path.join(SHOTS, `${name}.png`), fullPage: true });
    },
    close: () => context.close(),
  };
}

async function reportPolicy(context: BrowserContext, faults: string[]): Promise<void> {
  await context.exposeFunction('reelgateReport', (text: string) => faults.push(`policy: ${text}`));
  // as text, because the tests have no types of a browser
  await context.addInitScript(`addEventListener('securitypolicyviolation', (event) => {
    reelgateReport([event.violatedDirective, event.blockedURI, event.sourceFile, event.lineNumber].join(' '));
  })`);
}

async function bytesOf(response: Response): Promise<number> {
  return (await response.request().sizes()).responseBodySize;
}

interface AxeResult {
  readonly violations: readonly {
    readonly id: string;
    readonly impact: string;
    readonly help: string;
    readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
  }[];
}

async function axe(page: Page): Promise<readonly string[]> {
  await page.evaluate(AXE);
  // a colour that is changing has a contrast of its own
  await page.evaluate(`Promise.allSettled(
    document.getAnimations().filter((one) => one instanceof CSSTransition).map(({ finished }) => finished),
  ).then(() => null)`);
  const how = JSON.stringify({ runOnly: { type: 'tag', values: AXE_TAGS } });
  const { violations } = await page.evaluate<AxeResult>(`axe.run(document, ${how})`);
  return violations.map(
    ({ id, impact, help, nodes }) =>
      `${id} (${impact}): ${help}: ${nodes[0]?.html ?? ''} ${nodes[0]?.failureSummary ?? ''} (${nodes.length})`,
  );
}
