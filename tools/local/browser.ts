/** The browser of `npm start`: found and tried before our processes start. Without one, screenshots and checks are off. */
import { findWallFault, type WallFault } from '#providers/browser/trial.ts';
import { findChromium } from '#providers/browser/wall.ts';
import { type Machine, readMachine } from '#providers/sandbox/machine.ts';
import { explainRefusal } from '#providers/sandbox/refusals.ts';
import { installCommand, isInstalled, type Program } from './packages.ts';

export type BrowserChoice = {
  /** Settings for our processes. */
  settings: NodeJS.ProcessEnv;
  /** What to tell the user. */
  lines: string[];
};

/** Whether Chromium and what encloses it work here. A setting of the user wins. `path` has the programs of the wall. */
export async function chooseBrowser(env: NodeJS.ProcessEnv, path?: string): Promise<BrowserChoice> {
  if (env.FRONTAGE_SCREENSHOTS) return { settings: {}, lines: [] };
  if (process.platform !== 'linux') return withoutBrowser('they need Linux.');
  const program = findChromium(env.FRONTAGE_CHROMIUM);
  if (program === undefined || !isInstalled('bwrap')) {
    const missing: Program[] = [
      ...(program === undefined ? ['chromium' as const] : []),
      ...(isInstalled('bwrap') ? [] : ['bubblewrap' as const]),
    ];
    return withoutBrowser(`to turn them on, ${installCommand(missing)}, then start again.`);
  }
  const fault = await findWallFault(program, path);
  if (fault) return withoutBrowser(`${explainFault(fault, program, readMachine('/'))} Then start again.`);
  return { settings: { FRONTAGE_SCREENSHOTS: 'on' }, lines: [] };
}

/** The reason and the remedy. */
export function explainFault({ of, detail }: WallFault, program: string, machine: Machine): string {
  if (of === 'program')
    return `${program} does not run in bubblewrap (${detail}). Install a Chromium that is not a snap, for example Google Chrome, and set FRONTAGE_CHROMIUM to its path.`;
  if (/unknown option/i.test(detail)) return `bubblewrap is too old (${detail}). Install version 0.8 or later.`;
  // The remedy for builds in a container, an engine, is none for Chromium.
  const { reason, remedy } = explainRefusal('bubblewrap', { ...machine, isContainer: false }, detail);
  const other = machine.isContainer
    ? 'Run Frontage outside of this container.'
    : 'Permit it (docs/operations.md, “Sandboxes”).';
  return `${reason} ${remedy || other}`;
}

const withoutBrowser = (why: string): BrowserChoice => ({
  settings: { FRONTAGE_SCREENSHOTS: 'off' },
  lines: [`… Screenshots and checks of pages are off: ${why}`],
});
