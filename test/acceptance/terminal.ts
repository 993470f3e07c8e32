/** An agent's machine with the served terminal client and git alone. */
import { type ExecFileException, execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { launchChromium } from '#test/web/chromium.ts';

// biome-ignore lint/suspicious/noExplicitAny: what a test reads of an answer is what it asserts.
type Json = any;
export type Ran = { exit: number; out: string; err: string; body: Json };
export type Terminal = {
  home: string;
  client: string;
  run(args: string[], options?: { cwd?: string; env?: Record<string, string>; binary?: string }): Promise<Ran>;
  git(cwd: string, ...args: string[]): Promise<string>;
  close(): Promise<void>;
};

/** An empty home with the client of that address in it, and what its environment has besides. Commands run without a terminal. */
export async function newTerminal(clientUrl: string, extra: Record<string, string> = {}): Promise<Terminal> {
  const home = await mkdtemp(join(tmpdir(), 'frontage-client-'));
  const client = join(home, 'frontage.mjs');
  await writeFile(client, await (await fetch(clientUrl)).text());
  const own = { PATH: process.env.PATH, HOME: home, XDG_CONFIG_HOME: home, XDG_CACHE_HOME: home };
  const environment = { ...own, GIT_TERMINAL_PROMPT: '0', ...extra };
  const identity = ['-c', 'user.name=Agent', '-c', 'user.email=agent@example.com'];
  return {
    home,
    client,
    run: (args, { cwd = home, env = {}, binary = process.execPath } = {}) =>
      new Promise((resolve) => {
        const end = (error: ExecFileException | null, out: string, err: string) =>
          resolve({ exit: typeof error?.code === 'number' ? error.code : error ? -1 : 0, out, err, body: parsed(out) });
        const options = { cwd, env: { ...environment, ...env }, maxBuffer: 64 * 1024 * 1024 };
        execFile(binary, [client, ...args], options, end).stdin?.end();
      }),
    git: (cwd, ...args) =>
      new Promise((resolve, reject) => {
        execFile('git', [...identity, ...args], { cwd, env: environment }, (error, out, err) =>
          error ? reject(new Error(err)) : resolve(out),
        );
      }),
    close: () => rm(home, { recursive: true, force: true }),
  };
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

/** What an owner does who wants the agent let in: opens the link of the newest mail, and types the code that the agent was shown. */
export async function letIn(mailUrl: string | null, email: string, code: string): Promise<void> {
  const mails = async () => {
    const answer = await fetch(`${mailUrl}/messages?to=${encodeURIComponent(email)}`);
    return ((await answer.json()) as { items: { text: string }[] }).items;
  };
  await expect.poll(async () => (await mails()).length, { timeout: 60_000 }).toBe(1);
  const link = /https?:\/\/\S+/.exec((await mails())[0]?.text ?? '')?.[0] ?? '';
  const browser = await launchChromium();
  try {
    const page = await browser.newPage();
    await page.goto(link);
    await page.fill('input[name=code]', code);
    await page.click('text=Give access');
    await page.getByRole('heading', { name: 'Access granted' }).waitFor();
  } finally {
    await browser.close();
  }
}
