/** The Chromium of tests. */
import { type Browser, chromium, type LaunchOptions } from 'playwright-core';
import { pathOf } from '#test/stack/requirements.ts';

/** With as few processes as it can be, since tests share the machine's cores. */
const few = ['--in-process-gpu', '--renderer-process-limit=1'];

/**
 * Launches Chromium. `hosts`: the value of `--host-resolver-rules`. `env`: its environment variables; by default those of
 * the test process.
 */
export async function launchChromium({
  hosts = 'MAP *.localhost 127.0.0.1',
  ...options
}: { hosts?: string | undefined } & Pick<LaunchOptions, 'env'> = {}): Promise<Browser> {
  const args = ['--no-sandbox', '--disable-gpu', '--disable-background-networking', ...few];
  return await chromium.launch({
    executablePath: await pathOf('chromium'),
    args: [...args, `--host-resolver-rules=${hosts}`],
    ...options,
  });
}
