/** The browser of `npm start`: found once before our processes start. Without one, screenshots and checks are off. */
import { findChromium } from '#providers/browser/wall.ts';
import { installCommand, isInstalled, type Program } from './packages.ts';

export type BrowserChoice = {
  /** Settings for our processes. */
  settings: NodeJS.ProcessEnv;
  /** What to tell the user. */
  lines: string[];
};

/** Whether Chromium and what encloses it are here. A setting of the user wins. */
export function chooseBrowser(env: NodeJS.ProcessEnv): BrowserChoice {
  if (env.FRONTAGE_SCREENSHOTS) return { settings: {}, lines: [] };
  if (process.platform !== 'linux') return withoutBrowser('they need Linux.');
  const missing: Program[] = [
    ...(findChromium(env.FRONTAGE_CHROMIUM) ? [] : ['chromium' as const]),
    ...(isInstalled('bwrap') ? [] : ['bubblewrap' as const]),
  ];
  if (missing.length > 0) return withoutBrowser(`to turn them on, ${installCommand(missing)}, then start again.`);
  return { settings: { FRONTAGE_SCREENSHOTS: 'on' }, lines: [] };
}

const withoutBrowser = (why: string): BrowserChoice => ({
  settings: { FRONTAGE_SCREENSHOTS: 'off' },
  lines: [`… Screenshots and checks of pages are off: ${why}`],
});
