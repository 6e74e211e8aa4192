// A Chromium for the tests, and pages that tell of everything that should not happen: errors, and requests to other servers.
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core';

/** Where Debian puts it. */
export const chromiumPath = '/usr/bin/chromium';

/** Starts the browser. */
export function launchBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: chromiumPath,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-background-networking',
      '--autoplay-policy=no-user-gesture-required',
    ],
  });
}

/** A page with what went wrong on it. */
export interface WatchedPage {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Errors of scripts, refused loads of the content policy, requests to other servers. */
  readonly faults: readonly string[];
}

/** What the browser says of a server that is away is no fault of the page. */
const awayWords = /net::ERR_(CONNECTION|INTERNET|NETWORK|EMPTY|INCOMPLETE|ABORTED)|status of (400|404|503)/;

/** Opens a page of its own, with storage of its own. */
export async function openPage(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
): Promise<WatchedPage> {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 900 },
    reducedMotion: 'reduce',
    ...options,
  });
  return openTab(context, url);
}

/** Opens one more tab beside others. */
export async function openTab(context: BrowserContext, url: string): Promise<WatchedPage> {
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(`script: ${error.stack ?? error.message}`));
  page.on('console', (message) => {
    if (message.type() === 'error' && !awayWords.test(message.text())) faults.push(`console: ${message.text()}`);
  });
  page.on('request', (request) => {
    const address = request.url();
    if (!address.startsWith(new URL(url).origin) && !/^(data|blob):/.test(address)) faults.push(`asks for ${address}`);
  });
  await page.goto(url);
  return { page, context, faults };
}
