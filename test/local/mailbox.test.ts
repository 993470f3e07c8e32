import { get } from 'node:http';
import { expect, test } from 'vitest';
import { systemClock } from '#runtime/clock.ts';
import { startMailCatcher } from '#tools/local/mail/catcher.ts';

/** The status for a request that names this host, as a browser does for a page's own name. */
function statusFor(url: string, host: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const { port } = new URL(url);
    const request = get({ host: '127.0.0.1', port, path: '/messages', headers: { host } }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    request.once('error', reject);
  });
}

test('the mailbox is shown to names of this machine alone', async () => {
  const { url, close } = await startMailCatcher({ clock: systemClock });
  try {
    const statuses = ['localhost:4435', '127.0.0.1', 'page.example:4435', 'localhost.page.example'].map((host) =>
      statusFor(url, host),
    );
    expect(await Promise.all(statuses)).toEqual([200, 200, 403, 403]);
  } finally {
    await close();
  }
});
