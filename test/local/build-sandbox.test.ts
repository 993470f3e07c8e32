/** What `npm start` does where no sandbox works. */
import { userInfo } from 'node:os';
import { expect, test } from 'vitest';
import type { SandboxRefusal } from '#providers/sandbox/refusals.ts';
import { chooseSandbox, withoutWorking } from '#tools/local/build-sandbox.ts';
import { onlyPrograms, sudo } from './machine-programs.ts';

const engine: SandboxRefusal = {
  kind: 'docker',
  reason: 'No container engine is responding.',
  remedy: 'Install and start Docker.',
  program: 'docker',
};
const bubblewrap: SandboxRefusal = {
  kind: 'bubblewrap',
  reason: 'bubblewrap is not installed.',
  remedy: 'Install bubblewrap.',
  program: 'bubblewrap',
};
const limit = { reason: 'The kernel’s limit of user namespaces is 0.', remedy: 'To permit them: sysctl.' };
const none: SandboxRefusal[] = [engine, bubblewrap, { kind: 'namespaces', ...limit }];
const reasons = none.map(({ reason }) => reason).join(' ');
const onLoopback = {
  FRONTAGE_API_HOST: '127.0.0.1',
  FRONTAGE_EDGE_HOST: '::1',
  FRONTAGE_BASE_URL: 'http://localhost:4400',
  FRONTAGE_SIGNUP: 'closed',
};

test('on loopback builds are unprotected, sign-up is closed, and two lines say so', () => {
  onlyPrograms('sudo', 'apt-get');
  for (const env of [{}, onLoopback]) {
    const { kind, settings, lines } = withoutWorking('auto', none, env);
    expect(kind).toBe('unprotected');
    expect(settings).toEqual({ FRONTAGE_SANDBOX: 'none-run-builds-unprotected', FRONTAGE_SIGNUP: 'closed' });
    expect(lines).toEqual([
      `! Site code runs with the rights of your user (${userInfo().username}): no sandbox works here. ${reasons}`,
      `! ${limit.remedy} Until then, sign-up is closed to other people.`,
    ]);
  }
});

test.each([
  [{ NODE_ENV: 'production' }, 'NODE_ENV is production'],
  [{ FRONTAGE_SANDBOX: 'auto' }, 'FRONTAGE_SANDBOX is auto'],
  [{ FRONTAGE_SIGNUP: 'open' }, 'FRONTAGE_SIGNUP is not closed'],
  [{ FRONTAGE_SIGNUP_FILE: '/run/secrets/signup' }, 'FRONTAGE_SIGNUP is not closed'],
  [{ FRONTAGE_API_HOST: '0.0.0.0' }, 'FRONTAGE_API_HOST is not on this machine’s loopback'],
  [{ FRONTAGE_API_HOST: '::' }, 'FRONTAGE_API_HOST is not on this machine’s loopback'],
  [{ FRONTAGE_API_HOST: '127.evil.example' }, 'FRONTAGE_API_HOST is not on this machine’s loopback'],
  [{ FRONTAGE_API_HOST_FILE: '/host' }, 'FRONTAGE_API_HOST is not on this machine’s loopback'],
  [{ FRONTAGE_EDGE_HOST: '192.168.1.5' }, 'FRONTAGE_EDGE_HOST is not on this machine’s loopback'],
  [{ FRONTAGE_BASE_URL: 'https://localhost.example.com' }, 'FRONTAGE_BASE_URL is not on this machine’s loopback'],
])('with %j sites are not built without a sandbox', (env, because) => {
  const { kind, settings, lines } = withoutWorking('auto', none, env);
  expect({ kind, settings }).toEqual({ kind: undefined, settings: { FRONTAGE_SANDBOX: 'off' } });
  expect(lines).toEqual([
    expect.stringContaining(`✗ Sites cannot be built: no sandbox works here, and ${because}, so builds without one`),
  ]);
});

test('a sandbox that was asked for and does not work ends the start', () => {
  onlyPrograms('sudo', 'apk');
  expect(() => withoutWorking('docker', [engine], {})).toThrow(
    `FRONTAGE_SANDBOX is docker: No container engine is responding. For a sandbox, install a container engine (${sudo}apk add docker) and start it. Or unset FRONTAGE_SANDBOX.`,
  );
});

test('the remedy is what the system needs, or else what to install', () => {
  onlyPrograms('sudo', 'apt-get');
  const unknown: SandboxRefusal = {
    kind: 'namespaces',
    reason: 'Making namespaces does not work here: x.',
    remedy: '',
  };
  const remedyOf = (...refusals: SandboxRefusal[]) => withoutWorking('auto', refusals, {}).lines[1];
  expect(remedyOf(engine, bubblewrap, unknown)).toContain(`For a sandbox: ${sudo}apt install bubblewrap.`);
  expect(remedyOf(engine, unknown)).toContain(
    `install a container engine (${sudo}apt install docker.io) and start it.`,
  );
});

test('the setting off is obeyed, and an unknown one refused', async () => {
  const choose = (setting: string) => chooseSandbox('/nowhere', { FRONTAGE_SANDBOX: setting }, () => {});
  expect(await choose('off')).toMatchObject({ kind: undefined, lines: [expect.stringMatching(/^… /)] });
  await expect(choose('dokcer')).rejects.toThrow(/^FRONTAGE_SANDBOX: .*"docker"/);
});
